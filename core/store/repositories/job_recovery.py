"""Recovery of jobs: requeue or end jobs of lost workers, and announce long-queued jobs to workers again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select

from core.jobs.status import CANCELLED, FAILED, QUEUED, RUNNING
from core.store.repositories.job_rows import CANCELLED_PROBLEM, JobRows
from core.store.tables import Job

LOST = "lost"

# Limit of jobs announced per sweep: a worker that finishes a job claims the next queued one anyway.
WAKE_UPS = 64


@dataclass
class RecoveryOutcome:
    """The outcomes of jobs of lost workers.

    Attributes:
        requeued: Ids of the jobs that were queued again.
        ended: The jobs that were cancelled or failed.
        by_process: Ids of the requeued and ended jobs, by the worker process that ran them.
    """

    requeued: list[str] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)
    by_process: dict[str, list[str]] = field(default_factory=dict, compare=False)


class JobRecovery(JobRows):
    """Jobs to recover within one transaction."""

    def running_on(self, worker: str) -> list[Job]:
        """List the running jobs of the workers whose names begin with a text."""
        rows = select(Job).where(Job.status == RUNNING, Job.worker.startswith(worker, autoescape=True))
        return list(self._session.scalars(rows))

    def take_back(self, lost: Iterable[Job], attempts: int) -> RecoveryOutcome:
        """Requeue or end the running jobs of lost workers, see `LeaseWatch`.

        A job with a cancellation request is cancelled, one after its last attempt fails, any other is queued
        again. A job whose lease was renewed since it was read is not changed.

        Args:
            lost: The jobs as they were read.
            attempts: Maximum number of attempts; those handed back at a shutdown do not count.

        Returns:
            The outcomes. `to_wake` returns the requeued jobs, too, since their last wake-up is cleared.
        """
        settled = RecoveryOutcome()
        for job in sorted(lost, key=lambda job: job.id):
            worker = job.worker
            target, problem = _after_loss(job, attempts)
            unchanged = (
                Job.token == job.token,
                Job.lease_expires_at.is_not_distinct_from(job.lease_expires_at),
            )
            moved = self._move(job.id, RUNNING, target, *unchanged, problem=problem)
            if moved is None:
                continue
            self._end_attempt(moved, LOST, f"The worker {worker} stopped answering.")
            settled.by_process.setdefault(worker or "", []).append(job.id)
            if target == QUEUED:
                settled.requeued.append(job.id)
            else:
                settled.ended.append(moved)
        return settled

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
        detail = f"The worker {job.worker} stopped answering, the last of {job.attempt} attempts."
        return FAILED, {"title": "Worker lost", "detail": detail}
    return QUEUED, None
