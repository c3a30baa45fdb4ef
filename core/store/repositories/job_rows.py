"""Rows of jobs with their attempts and iterations, and the one statement that changes a status."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, false, func, insert, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.jobs import orphaned_artifacts, specification_of
from core.jobs.base import QUEUED, RUNNING, TERMINAL, allows
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.repository import Repository, insert_row
from core.store.repositories.statistics import Counters, count_attempt, count_job
from core.store.tables import (
    ClickLog,
    Dataset,
    Job,
    JobAttempt,
    JobDataset,
    JobIteration,
    PendingDeletion,
)
from core.store.visibility import limited_to

CANCELLED_PROBLEM = {"title": "Cancelled", "detail": "The job was cancelled."}
# Options of an UPDATE that returns its rows: refresh the rows of the session.
FRESH = MappingProxyType({"populate_existing": True, "synchronize_session": False})


class JobRows(Repository[Job]):
    """Jobs with their attempts and iterations, the points of learning curves, within one transaction."""

    table = Job
    kind = "job"
    id_prefix = ids.JOB

    def __init__(self, session: Session, counters: Counters) -> None:
        super().__init__(session)
        self._counters = counters
        self._on_ending: list[Callable[[Job], None]] = []

    def on_ending(self, record_outcome: Callable[[Job], None]) -> None:
        """Call a function with every job that ends, within the transaction that ends it."""
        self._on_ending.append(record_outcome)

    def attempts(self, id: str) -> list[JobAttempt]:
        """Return the attempts of a job in order, one for each claim."""
        rows = select(JobAttempt).where(JobAttempt.job_id == id).order_by(JobAttempt.token)
        return list(self._session.scalars(rows))

    def iterations(self, id: str, after: int = 0) -> list[JobIteration]:
        """List the recorded iterations of a job above `after`, in order."""
        self.get(id)
        rows = select(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration > after)
        return list(self._session.scalars(rows.order_by(JobIteration.iteration)))

    def values_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded values of several jobs in one statement, without their times.

        Args:
            after: Ids of jobs, each with the iteration above which to return its values.

        Returns:
            By job and iteration, both in order; a job without such values has an empty entry.
        """
        return self._by_iteration(JobIteration.values, after)

    def milliseconds_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded times of several jobs in one statement, as `values_by_iteration`.

        An iteration without recorded times has an empty entry.
        """
        recorded = self._by_iteration(JobIteration.milliseconds, after)
        return {
            job_id: {iteration: times or {} for iteration, times in rows.items()}
            for job_id, rows in recorded.items()
        }

    def _change_status(
        self, id: str, source: str, target: str, *guards: ColumnElement[bool], **values: Any
    ) -> Job | None:
        """Change a job's status in one statement; return None if it is not `source` or a guard fails."""
        if not allows(source, target):
            raise ValueError(f"a job never goes from {source} to {target}")
        values["status"] = target
        if target != RUNNING:
            values["lease_expires_at"] = None
        if target == QUEUED:
            values |= {"worker": None, "woken_at": None}
        if target in TERMINAL:
            values |= {"finished_at": utc_now(), "checkpoint": None}
        moved = update(Job).where(Job.id == id, Job.status == source, *guards).values(values).returning(Job)
        job = self._session.scalars(moved, execution_options=FRESH).one_or_none()
        if job is not None and job.problem is not None:
            self._invalidate_data(job)
        if job is not None and target in TERMINAL:
            with limited_to(None):  # the study of a trial may be in another project
                for record_outcome in self._on_ending:
                    record_outcome(job)
        return job

    def _delete_artifacts_later(self, job: Job) -> None:
        """Record the artifacts of an unsuccessful job without a worker as pending deletions."""
        for folder in orphaned_artifacts(job):
            self._session.merge(PendingDeletion(folder=folder, at=utc_now()))

    def _invalidate_data(self, job: Job) -> None:
        """Mark the pending dataset or click log of a job that ended with a problem as invalid."""
        specification = specification_of(job.kind)
        pending: list[Select[Any]] = []
        if specification.makes_dataset:
            awaited = select(JobDataset.dataset_id).where(JobDataset.job_id == job.id)
            pending.append(select(Dataset).where(Dataset.id.in_(awaited), Dataset.status == "pending"))
        if specification.makes_click_log:
            pending.append(select(ClickLog).where(ClickLog.job_id == job.id, ClickLog.status == "pending"))
        for rows in pending:
            for row in self._session.scalars(rows):
                row.status, row.problem = "invalid", job.problem
            self._session.flush()

    def _begin_attempt(self, job: Job, started_at: datetime, resumed_from: int | None) -> None:
        """Record a new attempt of a job.

        Args:
            job: The job after its claim.
            resumed_from: Iteration of the checkpoint that the attempt resumes from, None without one.
        """
        attempt = JobAttempt(
            job_id=job.id,
            token=job.token,
            attempt=job.attempt,
            worker=job.worker,
            started_at=started_at,
            resumed_from=resumed_from,
        )
        insert_row(self._session, attempt)

    def _end_attempt(self, job: Job, outcome: str, detail: str | None) -> None:
        """Record and count the outcome of the latest attempt, and of the job if it ended."""
        # An attempt that a worker of an earlier release began has no row.
        self._write_attempt(job.id, job.token, ended_at=utc_now(), ending=outcome, detail=detail)
        count_attempt(self._counters, job.kind, outcome)
        if job.finished_at is not None:
            first = select(func.min(JobAttempt.started_at)).where(JobAttempt.job_id == job.id)
            started_at = self._session.scalar(first) or job.started_at or job.finished_at
            # If the clock was set back, the difference would be negative.
            job.took_seconds = max(0.0, (job.finished_at - started_at).total_seconds())
            count_job(self._counters, job.kind, job.status, job.took_seconds)

    def _write_attempt(self, id: str, token: int, **values: Any) -> None:
        conditions = (JobAttempt.job_id == id, JobAttempt.token == token)
        written = update(JobAttempt).where(*conditions).values(values)
        self._session.execute(written, execution_options={"synchronize_session": False})

    def _by_iteration(
        self, column: InstrumentedAttribute[Any], after: Mapping[str, int]
    ) -> dict[str, dict[int, Any]]:
        by_job: dict[str, dict[int, Any]] = {job_id: {} for job_id in after}
        later = [
            and_(JobIteration.job_id == job_id, JobIteration.iteration > iteration)
            for job_id, iteration in after.items()
        ]
        rows = select(JobIteration.job_id, JobIteration.iteration, column).where(or_(false(), *later))
        for job_id, iteration, recorded in self._session.execute(
            rows.order_by(JobIteration.job_id, JobIteration.iteration)
        ):
            by_job[job_id][iteration] = recorded
        return by_job

    def _replace_iterations(
        self, id: str, values: dict[int, dict[str, Any]], milliseconds: Mapping[int, dict[str, Any]]
    ) -> None:
        self._session.execute(
            delete(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration.in_(values)),
            execution_options={"synchronize_session": False},
        )
        rows = [
            {"job_id": id, "iteration": number, "values": value, "milliseconds": milliseconds.get(number)}
            for number, value in values.items()
        ]
        self._session.execute(insert(JobIteration), rows)

    def _drop_iterations(self, id: str, after: int) -> None:
        dropped = delete(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration > after)
        self._session.execute(dropped)
