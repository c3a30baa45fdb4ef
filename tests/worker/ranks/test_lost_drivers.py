"""Drivers that are killed, frozen or stopped: their ranks end, and the training can continue."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.data import RankingDataset, synthetic_dataset
from core.store import Job, Store
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import hold, on_phases
from tests.worker.ranks.drivers import driver_process
from tests.worker.ranks.processes import ranks_end_within
from tests.worker.ranks.trainings import ranks
from worker import WorkerSettings
from worker.job.lease import Lease
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

TREES = 25
SPEC: dict[str, Any] = {
    "model_name": "web",
    "loss": {"name": "lambdarank"},
    "metrics": ["ndcg@5"],
    "hyperparameters": {"num_iterations": TREES, "num_leaves": 7, "min_data_in_leaf": 5},
    "distribution": {"ranks": {"at_least": 3, "at_most": 3}, "threads_per_rank": 1},
}
# More trees than a test waits for.
ENDLESS = SPEC["hyperparameters"] | {"num_iterations": 100_000}
TIMEOUT_SECONDS = 60.0


@pytest.fixture(scope="module")
def larger() -> RankingDataset:
    """A dataset with enough queries for measurable time per tree."""
    return synthetic_dataset(100, seed=1, documents_per_query=30, n_features=10)


@pytest.fixture
def settings(settings: WorkerSettings) -> WorkerSettings:
    """Settings with short timeouts, short leases, and a checkpoint after each tree."""
    return settings.model_copy(
        update={
            "rank_silence_seconds": 2.0,
            "checkpoint_seconds": 0.0,
            "lease_seconds": 2.0,
            "heartbeat_seconds": 0.5,
        }
    )


@pytest.fixture
def inline_worker(store: Store, settings: WorkerSettings) -> InlineWorker:
    """A worker that writes every progress report, since tests wait for trees."""
    return InlineWorker(store, settings)


def _submit(inline_worker: InlineWorker, dataset: RankingDataset, **changed: Any) -> str:
    dataset_id = inline_worker.add(dataset, "larger")
    with inline_worker.store.begin() as tx:
        return tx.jobs.add("train", {"kind": "train", "dataset_id": dataset_id, **SPEC, **changed}).id


def _await_tree(store: Store, job_id: str, number: int) -> Job:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        with store.read() as tx:
            job = tx.jobs.get(job_id)
        if (job.progress or {}).get("iteration", 0) >= number and job.checkpoint:
            return job
        time.sleep(0.02)
    raise AssertionError(f"no tree {number} within {TIMEOUT_SECONDS} s: {job.status}, {job.progress}")


@contextmanager
def _driving(inline_worker: InlineWorker) -> Iterator["subprocess.Popen[bytes]"]:
    process = driver_process(inline_worker.settings)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _recover_job(inline_worker: InlineWorker, job_id: str) -> None:
    """Queue the job of a lost driver again, as a sweep does."""
    with inline_worker.store.begin() as tx:
        tx.jobs.recover(tx.jobs.get(job_id), attempts=3)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_ranks_leave_a_driver_that_is_lost(
    inline_worker: InlineWorker, larger: RankingDataset, number: signal.Signals
) -> None:
    """The ranks of a killed or frozen driver end within 15 seconds; the next driver yields the same bytes."""
    job_id = _submit(inline_worker, larger)
    with _driving(inline_worker) as driver:
        _await_tree(inline_worker.store, job_id, 5)
        os.kill(driver.pid, number)
        assert ranks_end_within(15.0, driver.pid)
    _recover_job(inline_worker, job_id)
    job = inline_worker.run_queued(job_id)
    assert job.status == "succeeded", job.problem
    assert job.attempt == 2
    again = inline_worker.train(job.spec["dataset_id"], **SPEC)
    assert inline_worker.model_text(again.result or {}) == inline_worker.model_text(job.result or {})


@pytest.mark.slow
def test_a_cancelled_job_ends_with_its_ranks(inline_worker: InlineWorker, larger: RankingDataset) -> None:
    """The job is cancelled, and its ranks end within a second."""
    job_id = _submit(inline_worker, larger, hyperparameters=ENDLESS)

    def cancel() -> None:
        _await_tree(inline_worker.store, job_id, 3)
        with inline_worker.store.begin() as tx:
            tx.jobs.request_cancel(job_id)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    job = inline_worker.run_queued(job_id)
    canceller.join()
    assert job.status == "cancelled"
    assert ranks_end_within(1.0)


@pytest.mark.long
def test_a_worker_that_stops_keeps_a_checkpoint(inline_worker: InlineWorker, larger: RankingDataset) -> None:
    """The job is queued again with a checkpoint, and no rank is left."""
    job_id = _submit(inline_worker, larger, hyperparameters=ENDLESS, distribution=ranks(2))
    settings = inline_worker.settings.model_copy(update={"checkpoint_seconds": 3600.0})
    stop = StopFlag()

    def halt() -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            with inline_worker.store.read() as tx:
                progress = tx.jobs.get(job_id).progress or {}
            if progress.get("phase") == "training" and progress["iteration"] >= 3:
                stop.set()
                return
            time.sleep(0.02)

    halting = threading.Thread(target=halt)
    halting.start()
    run_jobs(inline_worker.store, settings, stop, "w1", RUNNERS)
    halting.join()
    with inline_worker.store.read() as tx:
        job = tx.jobs.get(job_id)
    assert job.status == "queued"
    assert job.checkpoint is not None
    assert job.checkpoint["iteration"] >= 3
    assert ranks_end_within(1.0)


@pytest.mark.long
def test_a_worker_that_stops_after_the_last_tree_keeps_a_checkpoint(
    inline_worker: InlineWorker, larger: RankingDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job, whose ranks have ended, is queued again with all trees, and the next attempt stores them."""
    few = SPEC["hyperparameters"] | {"num_iterations": 3}
    job_id = _submit(inline_worker, larger, hyperparameters=few, distribution=ranks(2))
    settings = inline_worker.settings.model_copy(update={"checkpoint_seconds": 3600.0})
    stop = StopFlag()

    def halt(lease: Lease, phase: str) -> None:
        if phase == "storing":
            stop.set()
            hold(lease)

    with monkeypatch.context() as patch:
        on_phases(patch, halt)
        run_jobs(inline_worker.store, settings, stop, "w1", RUNNERS)
    with inline_worker.store.read() as tx:
        job = tx.jobs.get(job_id)
    assert job.status == "queued", job.problem
    assert job.checkpoint is not None
    assert job.checkpoint["iteration"] == 3
    job = inline_worker.run_queued(job_id)
    assert job.status == "succeeded", job.problem
    changed = {"hyperparameters": few, "distribution": ranks(2)}
    again = inline_worker.train(job.spec["dataset_id"], **{**SPEC, **changed})
    assert inline_worker.model_text(again.result or {}) == inline_worker.model_text(job.result or {})
