"""Stored attempts of jobs: worker, times and outcome."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.repositories.counters import Counters, count_attempt, count_job
from core.store.tables import Job, JobAttempt


class Attempts:
    """Attempts within one transaction: each claim of a job is one."""

    def __init__(self, session: Session, counters: Counters) -> None:
        self._session = session
        self._counters = counters

    def of(self, job_id: str) -> list[JobAttempt]:
        """Return the attempts of a job in order."""
        rows = select(JobAttempt).where(JobAttempt.job_id == job_id).order_by(JobAttempt.token)
        return list(self._session.scalars(rows))

    def begin(self, job: Job, started_at: datetime, resumed_from: int | None) -> None:
        """Record a new attempt of a job.

        Args:
            job: The job after its claim.
            started_at: Time of the claim.
            resumed_from: Iteration of the checkpoint that it resumes from, None without a checkpoint.
        """
        self._session.add(
            JobAttempt(
                job_id=job.id,
                token=job.token,
                attempt=job.attempt,
                worker=job.worker,
                started_at=started_at,
                resumed_from=resumed_from,
            )
        )
        self._session.flush()

    def keep_phases(self, job_id: str, token: int, phases: list[dict[str, Any]]) -> None:
        """Replace the phases of an attempt."""
        mine = (JobAttempt.job_id == job_id, JobAttempt.token == token)
        kept = update(JobAttempt).where(*mine).values(phases=phases)
        self._session.execute(kept, execution_options={"synchronize_session": False})

    def end(self, job: Job, ending: str, detail: str | None) -> None:
        """Record and count the outcome of the latest attempt, and of the job if it ended."""
        # An attempt that a worker of an earlier release began has no row.
        mine = (JobAttempt.job_id == job.id, JobAttempt.token == job.token)
        ended = update(JobAttempt).where(*mine).values(ended_at=utc_now(), ending=ending, detail=detail)
        self._session.execute(ended, execution_options={"synchronize_session": False})
        count_attempt(self._counters, job.kind, ending)
        if job.finished_at is not None:
            first = select(func.min(JobAttempt.started_at)).where(JobAttempt.job_id == job.id)
            started_at = self._session.scalar(first) or job.started_at or job.finished_at
            # A clock that was set back would make it negative.
            job.took_seconds = max(0.0, (job.finished_at - started_at).total_seconds())
            count_job(self._counters, job.kind, job.status, job.took_seconds)
