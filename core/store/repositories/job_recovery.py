"""Recovery of jobs: those of lost workers are settled, those that wait too long are announced again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select

from core.store.repositories.job_rows import CANCELLED_PROBLEM, JobRows
from core.store.repositories.job_states import CANCELLED, FAILED, QUEUED, RUNNING
from core.store.tables import Job

LOST = "lost"

# At most so many wake-ups a sweep: what waits in a long queue is found by those who finish something.
WAKE_UPS = 64


@dataclass
class Settled:
    """The outcome for jobs of lost workers.

    Attributes:
        requeued: Ids of the jobs that wait again.
        ended: The jobs that were cancelled or have failed.
        by_process: Ids of all of them, by the process of a worker that ran them.
    """

    requeued: list[str] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)
    by_process: dict[str, list[str]] = field(default_factory=dict, compare=False)


class JobRecovery(JobRows):
    """Jobs to recover within one transaction."""

    def running_on(self, worker: str) -> list[Job]:
        """List the running jobs of the workers whose names begin so."""
        rows = select(Job).where(Job.status == RUNNING, Job.worker.startswith(worker, autoescape=True))
        return list(self._session.scalars(rows))

    def take_back(self, lost: Iterable[Job], attempts: int) -> Settled:
        """Settle the running jobs whose worker is lost, see `LeaseWatch`.

        One that its user cancelled is cancelled, one that had `attempts` claims has failed, any other is
        queued again. One that was renewed since it was read is left alone.

        Args:
            lost: The jobs, as they were read.
            attempts: How often a job is claimed at most.

        Returns:
            What became of each; `to_wake` names those queued again too, as their last wake-up is forgotten.
        """
        settled = Settled()
        for job in sorted(lost, key=lambda job: job.id):
            worker = job.worker
            target, problem = _after_loss(job, attempts)
            silent = (Job.token == job.token, Job.lease_expires_at.is_not_distinct_from(job.lease_expires_at))
            moved = self._move(job.id, RUNNING, target, *silent, problem=problem)
            if moved is None:
                continue
            self._attempts.end(moved, LOST, f"The worker {worker} stopped answering.")
            settled.by_process.setdefault(worker or "", []).append(job.id)
            if target == QUEUED:
                settled.requeued.append(job.id)
            else:
                settled.ended.append(moved)
        return settled

    def to_wake(self, now: datetime, older_than_seconds: float) -> list[Job]:
        """List queued jobs that need a wake-up, the oldest few, and note that they got one."""
        age = timedelta(seconds=older_than_seconds)
        # A wake-up of the future was sent before the clock was set back.
        silent = or_(Job.woken_at.is_(None), Job.woken_at < now - age, Job.woken_at > now + age)
        oldest = select(Job).where(Job.status == QUEUED, silent).order_by(Job.id).limit(WAKE_UPS)
        # Two sweeps at once take different jobs and do not wait for each other. The rows are read before they
        # are changed: PostgreSQL may run the subquery of an UPDATE again, and then passes its limit.
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
