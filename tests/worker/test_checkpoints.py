"""Trainings that continue from the checkpoint of an earlier attempt."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from core.data import synthetic_dataset, write_parquet
from core.jobs.folders import checkpoint_folder
from core.kernel_cache import processor
from core.store import Job, Store
from core.store.artifacts.keys import model_key
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import shut_down_when
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

ITERATIONS = 24
SPEC = {
    "kind": "train",
    "loss": {"name": "lambdarank"},
    "hyperparameters": {
        "num_iterations": ITERATIONS,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "feature_fraction": 0.8,
    },
    "metrics": ["ndcg@5"],
    "validation": {"fraction": 0.3},
}
Submit = Callable[..., str]
Outcome = tuple[str, list[Any], Any]


def submitting(store: Store) -> Submit:
    """Store the dataset; return a function that queues the training with a model name."""
    with store.artifacts.writing("data/d/data.parquet") as file:
        write_parquet(synthetic_dataset(40, seed=1), file)
    with store.begin() as tx:
        dataset_id = tx.datasets.add("d", {"kind": "upload"}).id
        tx.datasets.mark_ready(dataset_id, statistics={}, digest="d", data_key="data/d/data.parquet")

    def queue(name: str) -> str:
        with store.begin() as tx:
            return tx.jobs.add("train", {**SPEC, "model_name": name, "dataset_id": dataset_id}).id

    return queue


@pytest.fixture
def submit(store: Store) -> Submit:
    """A function that queues the training with a model name."""
    return submitting(store)


@pytest.fixture(scope="module")
def undisturbed(shared_worker: InlineWorker) -> Outcome:
    """The outcome of the uninterrupted training."""
    store = shared_worker.store
    return finish(store, shared_worker.settings, submitting(store)("undisturbed"))


def current_job(store: Store, job_id: str) -> Job:
    """Return the current state of the job."""
    with store.read() as tx:
        return tx.jobs.get(job_id)


def interrupt(store: Store, settings: WorkerSettings, job_id: str, iteration: int) -> Job:
    """Let a worker train until an iteration, then shut it down; return the job after that."""

    def reached(progress: dict[str, Any]) -> bool:
        return progress.get("phase") == "training" and progress["iteration"] == iteration

    with pytest.MonkeyPatch.context() as patched:
        run_jobs(store, settings, shut_down_when(patched, reached), "w1", RUNNERS)
    return current_job(store, job_id)


def finish(store: Store, settings: WorkerSettings, job_id: str) -> Outcome:
    """Run the job; return model text, learning curves and metrics."""
    run_jobs(store, settings, StopFlag(), "w2", RUNNERS)
    job = current_job(store, job_id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    with store.read() as tx:
        curves = [(row.iteration, row.values) for row in tx.jobs.iterations(job_id)]
    return store.artifacts.read_bytes(model_key(job.result["model_id"])).decode(), curves, job.metrics


@pytest.mark.long
def test_a_shutdown_repeats_no_iteration(
    store: Store, settings: WorkerSettings, submit: Submit, undisturbed: Outcome
) -> None:
    """A training that was handed back continues to the same model, curves and metrics."""
    job_id = submit("web")
    job = interrupt(store, settings, job_id, 8)
    assert (job.status, job.attempt) == ("queued", 0)
    assert job.checkpoint is not None
    assert job.checkpoint["iteration"] == 8
    assert finish(store, settings, job_id) == undisturbed
    with store.read() as tx:
        attempts = tx.jobs.attempts(job_id)
    assert [(row.ending, row.resumed_from) for row in attempts] == [
        ("handed_back", None),
        ("succeeded", 8),
    ]
    assert current_job(store, job_id).checkpoint is None
    assert not store.artifacts.exists(checkpoint_folder(job_id))


@pytest.mark.long
def test_the_lineage_names_the_processors_of_all_attempts(
    store: Store, settings: WorkerSettings, submit: Submit
) -> None:
    """A training that resumes on another type of processor has both types in its lineage."""
    job_id = submit("web")
    job = interrupt(store, settings, job_id, 8)
    own = processor()[0]
    assert job.checkpoint is not None
    assert job.checkpoint["processors"] == [own]
    with store.begin() as tx:
        tx.jobs.get(job_id).checkpoint = {**job.checkpoint, "processors": ["znver0"]}
    again = interrupt(store, settings, job_id, 16)
    assert again.checkpoint is not None
    assert again.checkpoint["processors"] == ["znver0", own]
    finish(store, settings, job_id)
    with store.read() as tx:
        lineage = tx.models.resolve("web").lineage
    assert lineage is not None
    assert lineage["processor"] == f"znver0, {own}"


@pytest.mark.long
def test_a_shutdown_after_the_last_iteration_repeats_no_training(
    store: Store,
    settings: WorkerSettings,
    submit: Submit,
    undisturbed: Outcome,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job that is stopped during the evaluation continues with the evaluation, without training."""
    job_id = submit("web")
    stop = StopFlag()

    def shut_down(run: JobRun, *_: object) -> None:
        stop.set()
        while True:
            run.lease.check()
            time.sleep(0.01)

    with monkeypatch.context() as patched:
        patched.setattr("worker.runners.training._test", shut_down)
        run_jobs(store, settings, stop, "w1", RUNNERS)
    job = current_job(store, job_id)
    assert job.checkpoint is not None
    assert job.checkpoint["iteration"] == ITERATIONS
    assert finish(store, settings, job_id) == undisturbed
    with store.read() as tx:
        attempts = tx.jobs.attempts(job_id)
    assert [(row.ending, row.resumed_from) for row in attempts] == [
        ("handed_back", None),
        ("succeeded", ITERATIONS),
    ]


@pytest.mark.long
def test_a_lost_worker_loses_the_iterations_after_the_checkpoint(
    store: Store, settings: WorkerSettings, submit: Submit, undisturbed: Outcome
) -> None:
    """Checkpoints are stored at intervals, and only the last one is kept."""
    job_id = submit("web")
    often = settings.model_copy(update={"checkpoint_seconds": 0.0, "attempts": 9})
    keys = []
    for iteration in (6, 15):
        job = interrupt(store, often, job_id, iteration)
        assert job.checkpoint is not None
        keys.append(job.checkpoint["key"])
    assert not store.artifacts.exists(keys[0])
    assert store.artifacts.exists(keys[1])
    # A worker that claims the job and never reports again.
    assert JobRun.claim_next(store, settings.model_copy(update={"lease_seconds": -1.0}), {"train"}, "w3")
    with store.begin() as tx:
        recovered = tx.jobs.recover(tx.jobs.get(job_id), 9)
    assert recovered is not None
    assert recovered.status == "queued"
    assert finish(store, often, job_id) == undisturbed


@pytest.mark.long
@pytest.mark.parametrize("damage", ["gone", "altered"])
def test_an_unusable_checkpoint_restarts_the_training(
    store: Store, settings: WorkerSettings, submit: Submit, undisturbed: Outcome, damage: str
) -> None:
    """The training starts again, and its outcome is the same."""
    job_id = submit("web")
    job = interrupt(store, settings, job_id, 8)
    assert job.checkpoint is not None
    key = job.checkpoint["key"]
    if damage == "gone":
        store.artifacts.delete(key)
    else:
        store.artifacts.write_bytes(key, store.artifacts.read_bytes(key)[:-1] + b"\0")
    assert finish(store, settings, job_id) == undisturbed
