"""The heartbeat thread of a running job."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import worker
from core.errors import JobCancelled, LeaseLost, RankeryError
from core.store import Store
from core.store.clock import utc_now
from core.store.leases import LeaseWatch
from worker.job.lease import WorkerStopping
from worker.job.limits import LimitReached
from worker.job.run import JobRun
from worker.process.heartbeat import Heartbeat
from worker.process.shutdown import StopFlag
from worker.process.tasks import record_outcome

Claim = Callable[..., JobRun]


def interruption(run: JobRun, limit_seconds: float = 10.0) -> Exception:
    """Return the interruption of a job."""
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        try:
            run.lease.check()
        except (RankeryError, WorkerStopping, LimitReached) as error:
            return error
        time.sleep(0.01)
    raise AssertionError("the job was not interrupted")


@pytest.mark.long
def test_the_lease_is_renewed_while_the_job_works(store: Store, claim_job: Claim) -> None:
    """A job that reports nothing for longer than its lease keeps it."""
    run = claim_job(lease_seconds=2.0)
    leases = LeaseWatch(lease_seconds=2.0, watch_seconds=2.0)
    with Heartbeat(run, StopFlag(), 0.1, record_outcome):
        deadline = time.monotonic() + 2.5
        while time.monotonic() < deadline:
            with store.read() as tx:
                assert leases.lost(tx.jobs.running_on(""), utc_now()) == []
            time.sleep(0.1)


def test_a_cancel_is_noticed_without_a_report(store: Store, claim_job: Claim) -> None:
    """The heartbeat interrupts a long phase without reports."""
    run = claim_job()
    with store.begin() as tx:
        tx.jobs.request_cancel(run.id)
    with Heartbeat(run, StopFlag(), 0.05, record_outcome):
        assert isinstance(interruption(run), JobCancelled)


def test_a_shutdown_interrupts_the_job(claim_job: Claim) -> None:
    """The job can keep a checkpoint before it returns to the queue."""
    run, stop = claim_job(), StopFlag()
    stop.set()
    with Heartbeat(run, stop, 0.05, record_outcome):
        assert isinstance(interruption(run), WorkerStopping)


def test_a_lost_lease_interrupts_the_job(store: Store, claim_job: Claim) -> None:
    """A worker that lost the lease stops the job while it runs."""
    run = claim_job()
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 3)
    with Heartbeat(run, StopFlag(), 0.05, record_outcome):
        assert isinstance(interruption(run), LeaseLost)


@pytest.mark.long
@pytest.mark.parametrize(
    ("limits", "title"),
    [
        ({"seconds": 0.2, "memory_bytes": None}, "Time limit"),
        ({"seconds": None, "memory_bytes": 2**24}, "Memory limit"),
    ],
)
def test_a_limit_interrupts_the_job(claim_job: Claim, limits: dict[str, Any], title: str) -> None:
    """Time and memory are checked while the job runs; memory from before the job does not count."""
    gc.collect()  # memory of earlier tests must not be freed meanwhile
    run = claim_job(limits=limits)
    with Heartbeat(run, StopFlag(), 0.05, record_outcome):
        held = np.ones(2**25)
        reached = interruption(run)
    assert held.all()
    assert isinstance(reached, LimitReached)
    assert reached.problem["title"] == title
    assert "limit" in reached.problem["detail"]


STUBBORN_JOB = """
import pathlib, sys, time
from core.process_start import leave_out_unused
leave_out_unused()
from core.errors import JobCancelled
from core.store import Store
from core.store.clock import utc_now
from core.store.leases import LeaseWatch
from worker import WorkerSettings
from worker.process.heartbeat import Heartbeat
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import record_outcome

settings = WorkerSettings(cancel_grace_seconds=0.2, **eval(sys.argv[1]))
store = Store.open(settings)
run = JobRun.claim_next(store, settings, {"train"}, "w1")
with store.begin() as tx:
    tx.jobs.request_cancel(run.id)
with Heartbeat(run, StopFlag(), 0.05, record_outcome):
    time.sleep(60)
"""


@pytest.mark.long
def test_an_ignored_interruption_ends_the_process(
    store: Store, store_arguments: dict[str, Any], queue_job: Callable[..., str]
) -> None:
    """The outcome of a job that does not stop within its grace period is recorded, and its process ends."""
    job_id = queue_job()
    environment = os.environ | {"PYTHONPATH": str(Path(worker.__file__).parents[1])}
    command = [
        sys.executable,
        "-c",
        STUBBORN_JOB,
        repr({name: str(value) for name, value in store_arguments.items()}),
    ]
    assert subprocess.run(command, env=environment, timeout=50).returncode == 1
    with store.read() as tx:
        job = tx.jobs.get(job_id)
        (attempt,) = tx.jobs.attempts(job_id)
    assert (job.status, attempt.ending) == ("cancelled", "cancelled")


def test_the_thread_ends_with_the_block(claim_job: Claim) -> None:
    """An idle process has no heartbeat left, even where the interval is long."""
    started_at = time.monotonic()
    with pytest.raises(ValueError, match="work"), Heartbeat(claim_job(), StopFlag(), 3600.0, record_outcome):
        raise ValueError("work")
    assert time.monotonic() - started_at < 2.0
