"""Rows of jobs, and the one statement that changes a status."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from core.jobs import specification_of
from core.jobs.status import QUEUED, RUNNING, TERMINAL, allows
from core.store.clock import utc_now
from core.store.repositories.attempts import Attempts
from core.store.repositories.rows import found
from core.store.tables import Dataset, Job, JobDataset

CANCELLED_PROBLEM = {"title": "Cancelled", "detail": "The job was cancelled."}
# Options of an UPDATE that returns its rows: refresh the rows of the session.
FRESH = MappingProxyType({"populate_existing": True, "synchronize_session": False})


class JobRows:
    """Rows of jobs within one transaction."""

    def __init__(self, session: Session, attempts: Attempts) -> None:
        self._session = session
        self._attempts = attempts
        self._ending: list[Callable[[Job], None]] = []

    def on_ending(self, record_outcome: Callable[[Job], None]) -> None:
        """Call a function with every job that ends, within the transaction that ends it."""
        self._ending.append(record_outcome)

    def get(self, id: str) -> Job:
        """Return one job.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Job, "job", id)

    def _move(
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
        if job is not None and job.problem is not None and specification_of(job.kind).makes_dataset:
            self._invalidate_dataset(job)
        if job is not None and target in TERMINAL:
            for record_outcome in self._ending:
                record_outcome(job)
        return job

    def _invalidate_dataset(self, job: Job) -> None:
        """Mark the pending dataset of a job as invalid that ended without reading it."""
        awaited = select(JobDataset.dataset_id).where(JobDataset.job_id == job.id)
        pending = select(Dataset).where(Dataset.id.in_(awaited), Dataset.status == "pending")
        for dataset in self._session.scalars(pending):
            dataset.status, dataset.problem = "invalid", job.problem
        self._session.flush()
