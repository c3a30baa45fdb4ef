"""Claims of jobs: all changes that a worker makes to its job, from the claim to the outcome or the recovery.

Each claim has a fencing token; a worker with an older token has lost its lease. This module also has the rows
of workers.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import case, delete, or_, select, update
from sqlalchemy.orm import Session

from core.errors import LeaseLost
from core.jobs import main_metric_of
from core.jobs.base import CANCELLED, FAILED, QUEUED, REFUSED, RUNNING, SUCCEEDED
from core.store.clock import utc_now
from core.store.repositories.events import Events
from core.store.repositories.job_rows import CANCELLED_PROBLEM, FRESH, JobRows
from core.store.tables import Job, Worker

HANDED_BACK = "handed_back"


class JobClaims(JobRows):
    """Claims of jobs within one transaction.

    Methods that take a token raise `LeaseLost` if it is no longer the job's.
    """

    def claim_next(self, kinds: Collection[str], worker: str, lease_seconds: float) -> Job | None:
        """Claim the next queued job of these kinds, or return None if the queue is empty.

        Order: highest priority, then the API key served least recently, then the oldest job.
        """
        is_waiting = Job.status == QUEUED, Job.kind.in_(kinds)
        keys = self._session.scalars(select(Job.key_id).where(*is_waiting).distinct()).all()
        order = [Job.priority.desc(), Job.id]
        if len(keys) > 1:
            # Each statement reads one row of an index; one statement for all keys would read all jobs.
            served = {key: self._last_start(key, kinds) for key in keys}
            starts = sorted(set(served.values()), key=lambda at: (at is not None, at))
            turn = case(*((Job.key_id == key, starts.index(at)) for key, at in served.items()))
            order.insert(1, turn)
        in_order = select(Job.id).where(*is_waiting).order_by(*order)
        job_id = self._session.scalar(in_order.limit(1).with_for_update(of=Job, skip_locked=True))
        return None if job_id is None else self.claim(job_id, worker, lease_seconds)

    def _last_start(self, key_id: str | None, kinds: Collection[str]) -> datetime | None:
        """Return the last start of a job of a key and of these kinds, or None."""
        starts = select(Job.started_at).where(
            Job.key_id == key_id, Job.kind.in_(kinds), Job.started_at.is_not(None)
        )
        return self._session.scalar(starts.order_by(Job.started_at.desc()).limit(1))

    def claim(self, id: str, worker: str, lease_seconds: float) -> Job | None:
        """Claim a queued job, or return None if it is no longer queued.

        A later attempt resumes from the last checkpoint: iterations recorded after it are deleted.
        """
        now = utc_now()
        job = self._change_status(
            id,
            QUEUED,
            RUNNING,
            attempt=Job.attempt + 1,
            token=Job.token + 1,
            worker=worker,
            lease_expires_at=now + timedelta(seconds=lease_seconds),
            started_at=now,
            progress=None,
            metrics=None,
            main_metric=None,
            findings=None,
        )
        if job is None:
            return None
        resumed_from = job.checkpoint["iteration"] if job.checkpoint else None
        if job.token > 1:
            self._drop_iterations(id, after=resumed_from or 0)
        self._begin_attempt(job, now, resumed_from)
        return job

    def cancellation_requested(self, id: str, token: int) -> bool:
        """Return whether the cancellation of a running job was requested."""
        claim_conditions = (Job.id == id, Job.token == token, Job.status == RUNNING)
        requested = self._session.scalar(select(Job.cancel_requested).where(*claim_conditions))
        if requested is None:
            raise LeaseLost(id)
        return requested

    def renew(self, id: str, token: int, lease_seconds: float) -> bool:
        """Renew the lease; return whether the job's cancellation was requested."""
        return self._write(
            id, token, {"lease_expires_at": utc_now() + timedelta(seconds=lease_seconds)}
        ).cancel_requested

    def record(
        self,
        id: str,
        token: int,
        *,
        progress: dict[str, Any] | None = None,
        metrics: dict[str, Any] | None = None,
        findings: list[dict[str, Any]] | None = None,
        iterations: Sequence[tuple[int, dict[str, Any]]] = (),
        milliseconds: Mapping[int, dict[str, Any]] = MappingProxyType({}),
        phases: list[dict[str, Any]] | None = None,
    ) -> bool:
        """Record the progress of a job; omitted values stay unchanged.

        Args:
            progress: The whole new progress.
            metrics: The whole new metrics.
            iterations: Pairs of iteration and values; recorded ones are replaced.
            milliseconds: Times by iteration.
            phases: All phases of this claim so far.

        Returns:
            Whether the job's cancellation was requested.
        """
        columns = {"progress": progress, "metrics": metrics, "findings": findings}
        job = self._write(id, token, {name: value for name, value in columns.items() if value is not None})
        if metrics is not None:
            main = main_metric_of(job.kind, job.spec, metrics)
            job.main_metric = None if main is None else main.value
        if iterations:
            self._replace_iterations(id, dict(iterations), milliseconds)
        if phases is not None:
            self._write_attempt(id, token, phases=phases)
        return job.cancel_requested

    def keep_checkpoint(self, id: str, token: int, checkpoint: dict[str, Any]) -> None:
        """Record the checkpoint that a later attempt resumes from, `{"key", "sha256", "iteration", "total"}`.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        self._write(id, token, {"checkpoint": checkpoint})

    def drop_checkpoint(self, id: str, token: int) -> None:
        """Discard an unusable checkpoint, so that the job restarts."""
        self._write(id, token, {"checkpoint": None})
        self._drop_iterations(id, after=0)

    def succeed(self, id: str, token: int, result: dict[str, Any]) -> Job:
        """End the job with the ids of its results."""
        return self._finish(id, token, SUCCEEDED, result=result)

    def refuse(self, id: str, token: int, problem: dict[str, Any]) -> Job:
        """End the job with a decision against the request, and its reason."""
        return self._finish(id, token, REFUSED, detail=problem.get("detail"), problem=problem)

    def fail(self, id: str, token: int, problem: dict[str, Any]) -> Job:
        """End the job with its error."""
        return self._finish(id, token, FAILED, detail=problem.get("detail"), problem=problem)

    def end_cancelled(self, id: str, token: int) -> Job:
        """End the job after a cancellation request."""
        return self._finish(id, token, CANCELLED, problem=CANCELLED_PROBLEM)

    def release(self, id: str, token: int) -> Job:
        """Queue a running job again; the attempt does not count."""
        return self._finish(
            id, token, QUEUED, HANDED_BACK, detail="The worker was shutting down.", attempt=Job.attempt - 1
        )

    def retry_later(self, id: str, token: int, detail: str) -> Job:
        """Queue a running job again after a temporary failure; the attempt counts."""
        return self._finish(id, token, QUEUED, HANDED_BACK, detail=detail)

    def _finish(
        self,
        id: str,
        token: int,
        target: str,
        outcome: str | None = None,
        *,
        detail: str | None = None,
        **values: Any,
    ) -> Job:
        """Change the status of a running job, and record the outcome of its attempt, `target` by default."""
        job = self._change_status(id, RUNNING, target, Job.token == token, **values)
        if job is None:
            raise LeaseLost(id)
        self._end_attempt(job, outcome or target, detail)
        return job

    def _write(self, id: str, token: int, values: dict[str, Any]) -> Job:
        claim_conditions = (Job.id == id, Job.token == token, Job.status == RUNNING)
        written = update(Job).where(*claim_conditions).values(values or {"token": token}).returning(Job)
        job = self._session.scalars(written, execution_options=FRESH).one_or_none()
        if job is None:
            raise LeaseLost(id)
        return job


LOST = "lost"

# Limit of jobs announced per sweep: a worker that finishes a job claims the next queued one anyway.
WAKE_UPS = 64


class JobRecovery(JobRows):
    """Jobs to recover within one transaction."""

    def running_on(self, worker: str) -> list[Job]:
        """List the running jobs of the workers whose names begin with a text."""
        rows = select(Job).where(Job.status == RUNNING, Job.worker.startswith(worker, autoescape=True))
        return list(self._session.scalars(rows))

    def recover(self, lost: Job, attempts: int) -> Job | None:
        """Requeue or end a running job of a lost worker, see `LeaseWatch`.

        A job with a cancellation request is cancelled, one after its last attempt fails, any other is queued
        again.

        Args:
            attempts: Maximum number of attempts; those handed back at a shutdown do not count.

        Returns:
            The job; None, without a change, if the lease was renewed after the job was read. `to_wake`
            returns a requeued job, too, since its last wake-up is cleared.
        """
        detail = f"The worker {lost.worker} stopped answering."
        target, problem = _after_loss(lost, attempts)
        unchanged = (
            Job.token == lost.token,
            Job.lease_expires_at.is_not_distinct_from(lost.lease_expires_at),
        )
        job = self._change_status(lost.id, RUNNING, target, *unchanged, problem=problem)
        if job is None:
            return None
        self._end_attempt(job, LOST, detail)
        if target != QUEUED:
            self._delete_artifacts_later(job)
        return job

    def to_wake(self, now: datetime, older_than_seconds: float) -> list[Job]:
        """List the oldest queued jobs to announce to workers again, and record the time of the wake-up."""
        age = timedelta(seconds=older_than_seconds)
        # A wake-up in the future was sent before the clock was set back.
        needs_wake_up = or_(Job.woken_at.is_(None), Job.woken_at < now - age, Job.woken_at > now + age)
        oldest = select(Job).where(Job.status == QUEUED, needs_wake_up).order_by(Job.id).limit(WAKE_UPS)
        # Concurrent sweeps lock different jobs without waiting. The rows are selected before the UPDATE:
        # PostgreSQL may run a subquery of an UPDATE again and exceed its limit.
        oldest = oldest.with_for_update(skip_locked=True).execution_options(populate_existing=True)
        jobs = list(self._session.scalars(oldest))
        for job in jobs:
            job.woken_at = now
        self._session.flush()
        return jobs


def _after_loss(job: Job, attempts: int) -> tuple[str, dict[str, Any] | None]:
    if job.cancel_requested:
        return CANCELLED, CANCELLED_PROBLEM
    if job.attempt >= attempts:
        detail = f"The worker {job.worker} stopped answering in the last of {job.attempt} attempts."
        return FAILED, {"title": "Worker lost", "detail": detail}
    return QUEUED, None


class Workers:
    """Workers within one transaction."""

    def __init__(self, session: Session, events: Events) -> None:
        self._session = session
        self._events = events

    def report(
        self, name: str, lane: str, processes: int, seconds: float, compiling: str | None = None
    ) -> bool:
        """Record a live worker; delete workers with an expired lease and record their loss.

        Args:
            name: Worker name, the prefix of its processes' names.
            lane: Lane of the jobs that it runs.
            compiling: Progress of the compilation of its kernels, None when it is ready.

        Returns:
            Whether the worker is new, or its lane, processes or progress changed.
        """
        now = utc_now()
        expired = delete(Worker).where(Worker.name != name, Worker.expires_at < now).returning(Worker)
        for lost in self._session.scalars(expired, execution_options={"synchronize_session": False}).all():
            self._events.worker_lost(lost)
        worker = self._session.get(Worker, name) or Worker(name=name, started_at=now)
        before = worker.lane, worker.processes, worker.compiling
        worker.lane, worker.processes, worker.compiling = lane, processes, compiling
        worker.seen_at, worker.expires_at = now, now + timedelta(seconds=seconds)
        self._session.add(worker)
        self._session.flush()
        return before != (lane, processes, compiling)

    def remove(self, name: str) -> None:
        """Delete the row of a worker that shuts down."""
        self._session.execute(delete(Worker).where(Worker.name == name))

    def live(self) -> list[Worker]:
        """List live workers, oldest first."""
        now = utc_now()
        rows = select(Worker).where(Worker.expires_at >= now).order_by(Worker.started_at, Worker.name)
        return [worker for worker in self._session.scalars(rows) if not _reports_from_future(worker, now)]


def _reports_from_future(worker: Worker, now: datetime) -> bool:
    """Return whether a worker's last report lies more than a lease in the future, after a clock change."""
    return worker.seen_at - now > worker.expires_at - worker.seen_at
