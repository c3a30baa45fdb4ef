"""The thread beside a running job."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from core.errors import JobCancelled, RankeryError
from core.store import Store
from worker.heartbeat import Heartbeat
from worker.jobs import JobRun, WorkerStopping
from worker.stopping import StopFlag

Claim = Callable[..., JobRun]


def interruption(run: JobRun, limit_seconds: float = 10.0) -> Exception:
    """Return what comes in the job's way."""
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        try:
            run.check()
        except (RankeryError, WorkerStopping) as error:
            return error
        time.sleep(0.01)
    raise AssertionError("nothing came in the job's way")


def test_the_lease_is_renewed_while_the_job_works(store: Store, claim_job: Claim) -> None:
    """A job that reports nothing for longer than its lease keeps it."""
    run = claim_job(lease_seconds=2.0)
    with Heartbeat(run, StopFlag(), 0.1):
        time.sleep(2.5)
        with store.begin() as tx:
            assert tx.jobs.requeue_expired(datetime.now(UTC), attempts=3).requeued == []


def test_a_cancel_is_noticed_without_a_report(store: Store, claim_job: Claim) -> None:
    """A long phase that reports nothing learns of a cancel from the heartbeat."""
    run = claim_job()
    with store.begin() as tx:
        tx.jobs.request_cancel(run.id)
    with Heartbeat(run, StopFlag(), 0.05):
        assert isinstance(interruption(run), JobCancelled)


def test_a_shutdown_hands_the_job_back(store: Store, claim_job: Claim) -> None:
    """The job can be taken by another worker at once."""
    run, stop = claim_job(), StopFlag()
    stop.set()
    with Heartbeat(run, stop, 0.05):
        assert isinstance(interruption(run), WorkerStopping)
    with store.begin() as tx:
        assert tx.jobs.to_wake(datetime.now(UTC), 3600) == [run.id]


def test_the_thread_ends_with_the_block(claim_job: Claim) -> None:
    """An idle process has no heartbeat left, even where the interval is long."""
    started_at = time.monotonic()
    with pytest.raises(ValueError, match="work"), Heartbeat(claim_job(), StopFlag(), 3600.0):
        raise ValueError("work")
    assert time.monotonic() - started_at < 2.0
