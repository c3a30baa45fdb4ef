"""Claims of jobs: all changes that a worker makes to its job, from the claim to the outcome.

Each claim has a fencing token; a worker with an older token has lost its lease.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import case, select, update

from core.errors import LeaseLost
from core.jobs import main_metric_of
from core.jobs.status import CANCELLED, FAILED, QUEUED, REFUSED, RUNNING, SUCCEEDED
from core.store.clock import utc_now
from core.store.repositories.job_rows import CANCELLED_PROBLEM, FRESH, JobRows
from core.store.tables import Job

HANDED_BACK = "handed_back"


class JobClaims(JobRows):
    """Claims of jobs within one transaction."""

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
        """Return whether the cancellation of a running job was requested.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        claim_conditions = (Job.id == id, Job.token == token, Job.status == RUNNING)
        requested = self._session.scalar(select(Job.cancel_requested).where(*claim_conditions))
        if requested is None:
            raise LeaseLost(id)
        return requested

    def renew(self, id: str, token: int, lease_seconds: float) -> bool:
        """Renew the lease; return whether the job's cancellation was requested.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
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
            id: The job.
            token: The token of the claim.
            progress: The whole new progress.
            metrics: The whole new metrics.
            findings: All findings of the job so far.
            iterations: Pairs of iteration and values; recorded ones are replaced.
            milliseconds: Times by iteration.
            phases: All phases of this claim so far.

        Returns:
            Whether the job's cancellation was requested.

        Raises:
            LeaseLost: The token is no longer the job's.
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
        """Discard an unusable checkpoint, so that the job restarts.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        self._write(id, token, {"checkpoint": None})
        self._drop_iterations(id, after=0)

    def succeed(self, id: str, token: int, result: dict[str, Any]) -> Job:
        """End the job with the ids of its results.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, SUCCEEDED, result=result)

    def refuse(self, id: str, token: int, problem: dict[str, Any]) -> Job:
        """End the job with a decision against the request, and its reason.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, REFUSED, detail=problem.get("detail"), problem=problem)

    def fail(self, id: str, token: int, problem: dict[str, Any]) -> Job:
        """End the job with its error.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, FAILED, detail=problem.get("detail"), problem=problem)

    def end_cancelled(self, id: str, token: int) -> Job:
        """End the job after a cancellation request.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(id, token, CANCELLED, problem=CANCELLED_PROBLEM)

    def release(self, id: str, token: int) -> Job:
        """Queue a running job again; the attempt does not count.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
        return self._finish(
            id, token, QUEUED, HANDED_BACK, detail="The worker was shutting down.", attempt=Job.attempt - 1
        )

    def retry_later(self, id: str, token: int, detail: str) -> Job:
        """Queue a running job again after a temporary failure; the attempt counts.

        Raises:
            LeaseLost: The token is no longer the job's.
        """
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
