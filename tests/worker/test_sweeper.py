"""Returning jobs to the queue."""

import os
import subprocess
from collections.abc import Callable

from core.store import Store
from core.store.lanes import TRAINING
from worker import WorkerSettings
from worker.jobs import JobRun
from worker.sweeper import Sweeper
from worker.tasks import RUNNERS


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
    Sweeper(settings, "host:1", TRAINING).sweep()
    with store.read() as tx:
        assert tx.jobs.get(lost.id).status == "queued"
        assert tx.jobs.get(alive.id).status == "running"


def test_a_dead_process_of_this_worker_need_not_be_waited_for(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """A pool process that is gone is known to be so long before its lease ends; other workers' are not."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    jobs = {}
    for worker in (f"host:1/{ended.pid}", f"host:1/{os.getpid()}", f"host:2/{ended.pid}"):
        jobs[worker] = queue_job()
        assert JobRun.claim_next(store, settings, RUNNERS, worker) is not None
    Sweeper(settings, "host:1", TRAINING).sweep()
    with store.read() as tx:
        found = [tx.jobs.get(job_id).status for job_id in jobs.values()]
    assert found == ["queued", "running", "running"]


def test_a_job_lost_too_often_fails(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """A job that kills its workers does not go on for ever."""
    job_id, sweeper = queue_job(), Sweeper(settings, "host:1", TRAINING)
    for _ in range(settings.attempts):
        run = JobRun.claim_next(store, settings, RUNNERS, "w1")
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
    broken = settings.model_copy(update={"database_url": "sqlite:////nonexistent/folder/x.db"})
    Sweeper(broken, "host:1", TRAINING).sweep()


def test_a_worker_says_that_it_is_there_until_it_leaves(store: Store, settings: WorkerSettings) -> None:
    """Once a lease, since when it runs, and no more after a shutdown."""
    sweeper = Sweeper(settings.model_copy(update={"worker_concurrency": 3}), "host:1", TRAINING)
    sweeper.sweep()
    sweeper.sweep()
    with store.read() as tx:
        (worker,) = tx.workers.present()
    assert (worker.name, worker.lane, worker.processes) == ("host:1", "training", 3)
    assert worker.seen_at == worker.started_at
    sweeper.leave()
    with store.read() as tx:
        assert tx.workers.present() == []
