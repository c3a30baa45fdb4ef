"""Returning jobs to the queue."""

from collections.abc import Callable

from core.store import Store
from worker import WorkerSettings
from worker.jobs import JobRun
from worker.sweeper import Sweeper


def lose(store: Store, run: JobRun) -> None:
    """Let a job's lease run out, as when its worker was killed."""
    with store.begin() as tx:
        tx.jobs.renew(run.id, run.token, -1)


def test_a_sweep_returns_the_jobs_of_lost_workers(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """A job whose lease has run out is queued again; one whose worker lives is not touched."""
    lost, alive = claim_job(), claim_job()
    lose(store, lost)
    Sweeper(settings).sweep()
    with store.read() as tx:
        assert tx.jobs.get(lost.id).status == "queued"
        assert tx.jobs.get(alive.id).status == "running"


def test_a_job_lost_too_often_fails(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """A job that kills its workers does not go on for ever."""
    job_id, sweeper = queue_job(), Sweeper(settings)
    for _ in range(settings.attempts):
        run = JobRun.claim(store, settings, job_id, "w1")
        assert run is not None
        lose(store, run)
        sweeper.sweep()
    with store.read() as tx:
        job = tx.jobs.get(job_id)
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["title"] == "Worker lost"


def test_a_sweep_survives_a_broken_database(settings: WorkerSettings) -> None:
    """A database that is away is left to the next sweep."""
    Sweeper(settings.model_copy(update={"database_url": "sqlite:////nonexistent/folder/x.db"})).sweep()
