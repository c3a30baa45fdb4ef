"""Recovery of jobs: requeue or end jobs of lost workers, and announce long-queued jobs to workers again."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select

from core.jobs.status import CANCELLED, FAILED, QUEUED, RUNNING
from core.store.repositories.job_rows import CANCELLED_PROBLEM, JobRows
from core.store.tables import Job

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
            lost: The job as it was read.
            attempts: Maximum number of attempts; those handed back at a shutdown do not count.

        Returns:
            The job; None if it was not changed, because its lease was renewed since it was read. `to_wake`
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
