"""Sweeps, which return the jobs of lost workers to the queue."""

import os
import subprocess
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from core.jobs import Lane
from core.jobs.folders import checkpoint_folder
from core.jobs.study import TrialJob
from core.store import Store
from core.store.artifacts.keys import checkpoint_key
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.process import schedules
from worker.process.sweeper import Sweeper
from worker.process.tasks import RUNNERS

HOUR = 3600
LEASES = 3


class TimedSweeper:
    """A sweeper with a clock that advances by leases."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._lease_seconds = settings.lease_seconds
        self._now = 0.0
        self._sweeper = Sweeper(settings, "host:1", Lane.TRAINING, lambda: self._now)

    def pass_lease(self, heartbeat: Callable[[], object] = lambda: None) -> None:
        """Sweep, advance the clock by a lease, call the heartbeat, and sweep again."""
        self._sweeper.sweep()
        self._now += self._lease_seconds
        heartbeat()
        self._sweeper.sweep()


def set_clock(store: Store, run: JobRun, seconds: float) -> None:
    """Renew a lease as if the clock were set by this number of seconds afterwards."""
    with store.begin() as tx:
        tx.jobs.renew(run.id, run.lease.token, 30.0 - seconds)


def test_a_sweep_returns_the_jobs_of_lost_workers(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """A job without a heartbeat during a lease is queued again; the job of a living worker is unchanged."""
    lost, alive = claim_job(), claim_job()
    sweeper = TimedSweeper(settings)
    for _ in range(LEASES):
        sweeper.pass_lease(alive.lease.renew)
    with store.read() as tx:
        assert tx.jobs.get(lost.id).status == "queued"
        assert tx.jobs.get(alive.id).status == "running"


def test_a_clock_set_back_keeps_no_dead_worker(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """The job is queued again after a lease, or cancelled if a cancellation was requested."""
    lost, cancelled = claim_job(), claim_job()
    for run in (lost, cancelled):
        set_clock(store, run, -HOUR)
    with store.begin() as tx:
        tx.jobs.request_cancel(cancelled.id)
    TimedSweeper(settings).pass_lease()
    with store.read() as tx:
        assert [tx.jobs.get(run.id).status for run in (lost, cancelled)] == ["queued", "cancelled"]


def test_a_clock_set_forward_takes_no_job_from_a_living_worker(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """The lease has expired by the wall clock, but the heartbeats are noticed."""
    run = claim_job()
    sweeper = TimedSweeper(settings)
    for _ in range(LEASES):
        sweeper.pass_lease(lambda: set_clock(store, run, HOUR))
    with store.read() as tx:
        assert tx.jobs.get(run.id).status == "running"


def test_jobs_of_a_dead_process_of_this_worker_are_queued_immediately(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """The sweeper checks the pool processes of this worker, but not those of other workers."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    jobs = {}
    for worker in (f"host:1/{ended.pid}", f"host:1/{os.getpid()}", f"host:2/{ended.pid}"):
        jobs[worker] = queue_job()
        assert JobRun.claim_next(store, settings, RUNNERS, worker) is not None
    Sweeper(settings, "host:1", Lane.TRAINING).sweep()
    with store.read() as tx:
        statuses = [tx.jobs.get(job_id).status for job_id in jobs.values()]
    assert statuses == ["queued", "running", "running"]


def test_a_process_id_that_another_user_reuses_is_that_of_a_dead_process(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal to the process of another user is refused, and the sweep queues the job again."""
    job_id = queue_job()
    assert JobRun.claim_next(store, settings, RUNNERS, "host:1/4242") is not None

    def refuse(_pid: int, _number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    Sweeper(settings, "host:1", Lane.TRAINING).sweep()
    with store.read() as tx:
        assert tx.jobs.get(job_id).status == "queued"


def test_a_job_lost_too_often_fails(
    store: Store, settings: WorkerSettings, queue_job: Callable[..., str]
) -> None:
    """A job that kills its workers fails after its last attempt."""
    job_id, sweeper = queue_job(), TimedSweeper(settings)
    for _ in range(settings.attempts):
        assert JobRun.claim_next(store, settings, RUNNERS, "w1") is not None
        sweeper.pass_lease()
    with store.read() as tx:
        job = tx.jobs.get(job_id)
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["title"] == "Worker lost"


def test_artifacts_of_a_lost_job_are_deleted_by_a_later_sweep(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database fails after the transaction that ended the job, and its checkpoints are deleted later."""
    run = claim_job()
    store.artifacts.write_bytes(checkpoint_key(run.id, 1, 1), b"x")
    sweeper = TimedSweeper(settings.model_copy(update={"attempts": 1}))
    with monkeypatch.context() as patch:
        patch.setattr(schedules, "advance_all", lambda *_: 1 // 0)
        sweeper.pass_lease()
    with store.read() as tx:
        assert tx.jobs.get(run.id).status == "failed"
    assert store.artifacts.exists(checkpoint_folder(run.id))
    sweeper.pass_lease()
    assert not store.artifacts.exists(checkpoint_folder(run.id))


def test_a_job_that_cannot_be_recovered_stops_no_other(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """A lost trial without the id of its study stays as it is; another lost job is queued again."""
    damaged, lost = claim_job(), claim_job()
    with store.begin() as tx:
        tx.jobs.request_cancel(damaged.id).kind = TrialJob.kind
    TimedSweeper(settings).pass_lease()
    with store.read() as tx:
        assert [tx.jobs.get(run.id).status for run in (damaged, lost)] == ["running", "queued"]


def test_a_sweep_survives_a_broken_database(settings: WorkerSettings) -> None:
    """A sweep without a database does not raise."""
    broken = settings.model_copy(update={"database_url": "sqlite:////nonexistent/folder/x.db"})
    Sweeper(broken, "host:1", Lane.TRAINING).sweep()


def test_a_worker_is_listed_until_it_leaves(store: Store, settings: WorkerSettings) -> None:
    """A worker is reported once in each lease with its start time, and is removed at a shutdown."""
    sweeper = Sweeper(settings.model_copy(update={"worker_concurrency": 3}), "host:1", Lane.TRAINING)
    sweeper.sweep()
    sweeper.sweep()
    with store.read() as tx:
        (worker,) = tx.workers.live()
    assert (worker.name, worker.lane, worker.processes) == ("host:1", "training", 3)
    assert worker.seen_at == worker.started_at
    sweeper.deregister()
    with store.read() as tx:
        assert tx.workers.live() == []


def test_after_the_clock_is_set_back_only_living_workers_are_listed(
    store: Store, settings: WorkerSettings
) -> None:
    """After the clock is set back, a dead worker is not listed, and a living one is after its next report."""
    with store.begin() as tx:
        for name in ("dead", "alive"):
            tx.workers.report(name, Lane.TRAINING, 1, 24.0)
        for worker in tx.workers.live():
            worker.seen_at += timedelta(seconds=HOUR)
            worker.expires_at += timedelta(seconds=HOUR)
    with store.begin() as tx:
        assert tx.workers.live() == []
        tx.workers.report("alive", Lane.TRAINING, 1, 24.0)
        assert [worker.name for worker in tx.workers.live()] == ["alive"]


def test_each_lost_worker_has_one_event(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """A worker that lost a job and a worker without recent reports have one event each."""
    lost = claim_job()
    with store.begin() as tx:
        worker = tx.jobs.get(lost.id).worker
        tx.workers.report("host:7", "quick", 1, seconds=-1)
    TimedSweeper(settings).pass_lease()
    with store.read() as tx:
        events = tx.events.after(0, 10, kinds=["worker.lost"])
    assert [(event.object_id, event.data["jobs"]) for event in events if event.data["jobs"]] == [
        (str(worker).rpartition("/")[0] or worker, [lost.id])
    ]
    assert [event.object_id for event in events if not event.data["jobs"]] == ["host:7"]


def test_old_events_are_removed(store: Store, settings: WorkerSettings) -> None:
    """Events are removed after the number of days in the setting."""
    for _ in range(2):
        with store.begin() as tx:
            tx.events.add("drift.found", "model", "mdl_1", {})
    with store.begin() as tx:
        tx.events.after(0, 1)[0].at -= timedelta(days=settings.events_days + 1)
    Sweeper(settings, "host:1", Lane.TRAINING).sweep()
    with store.read() as tx:
        assert [event.id for event in tx.events.after(0, 10)] == [2]


@pytest.mark.both_stores
def test_idle_workers_change_nothing_that_pages_show(
    store: Store, settings: WorkerSettings, claim_job: Callable[..., JobRun]
) -> None:
    """Renewed leases of jobs and workers do not count as changes; a lost job does."""

    def changes() -> int:
        with store.read() as tx:
            return tx.counters.changes()

    run = claim_job()
    sweeper = TimedSweeper(settings)
    sweeper.pass_lease(run.lease.renew)
    before, revision = changes(), store.revision()
    run.lease.renew()
    with store.begin() as tx:
        tx.notifies_clients = tx.workers.report(
            "host:1", Lane.TRAINING, settings.concurrency_of(Lane.TRAINING), 24.0
        )
    sweeper.pass_lease(run.lease.renew)
    assert store.revision() != revision  # the leases are longer
    assert changes() == before
    for _ in range(LEASES):
        sweeper.pass_lease()
    assert changes() > before


def test_a_sweep_opens_one_connection(store: Store, settings: WorkerSettings) -> None:
    """Each sweep opens one connection, also after earlier sweeps."""
    sweeper, opened = Sweeper(settings, "host:1", Lane.TRAINING), []

    def note(connection: object, _record: object) -> None:
        opened.append(connection)

    event.listen(Pool, "connect", note)
    try:
        for _ in range(3):
            sweeper.sweep()
    finally:
        event.remove(Pool, "connect", note)
    assert len(opened) == 3
