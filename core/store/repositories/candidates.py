"""Stored candidates of automatic trainings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import LeaseLost
from core.jobs.auto_train import AutoTrainJob, TryCandidatesJob
from core.jobs.base import ACTIVE, RUNNING
from core.store.repositories.jobs import Jobs
from core.store.tables import Candidate, Job

QUEUED = "queued"
NOT_TRIED = "not-tried"
UNSETTLED = (QUEUED, RUNNING)


@dataclass(frozen=True)
class Claim:
    """A claim of a worker on a job."""

    job_id: str
    token: int


class Candidates:
    """Candidates of automatic trainings within one transaction.

    The job of the automatic training and its parallel jobs take candidates one by one. A candidate whose job
    lost its worker can be taken again.
    """

    def __init__(self, session: Session, jobs: Jobs) -> None:
        self._session = session
        self._jobs = jobs
        jobs.on_ending(self._record_end)

    def of(self, job_id: str) -> list[Candidate]:
        """List the candidates of an automatic training, in order."""
        rows = select(Candidate).where(Candidate.job_id == job_id).order_by(Candidate.number)
        return list(self._session.scalars(rows.execution_options(populate_existing=True)))

    def add(self, job_id: str, candidates: Iterable[Mapping[str, Any]]) -> None:
        """Add the candidates of an automatic training: the columns of each, in order."""
        for number, columns in enumerate(candidates):
            self._session.add(Candidate(job_id=job_id, number=number, **columns))
        self._session.flush()

    def claim(self, job_id: str, claim: Claim, wave_size: int) -> Candidate | None:
        """Claim the next free candidate of the first unsettled wave, or return None.

        Args:
            claim: Claim of the job that tries it.
        """
        parent = self._session.get(Job, job_id, with_for_update=True, populate_existing=True)
        if parent is None or parent.status not in ACTIVE:
            return None
        unsettled = [row for row in self.of(job_id) if row.status in UNSETTLED]
        for row in unsettled:
            if row.number // wave_size == unsettled[0].number // wave_size and self._is_free(row):
                row.status, row.worker_job_id, row.worker_token = RUNNING, claim.job_id, claim.token
                self._session.flush()
                return row
        return None

    def record(self, job_id: str, number: int, claim: Claim, **columns: Any) -> None:
        """Record columns of a taken candidate.

        Raises:
            LeaseLost: Another claim has taken it.
        """
        row = self._session.get(Candidate, (job_id, number), with_for_update=True, populate_existing=True)
        if row is None or (row.worker_job_id, row.worker_token) != (claim.job_id, claim.token):
            raise LeaseLost(claim.job_id)
        self.change(job_id, number, **columns)

    def change(self, job_id: str, number: int, **columns: Any) -> None:
        """Change columns of a candidate without a check of its claim, for the automatic training itself."""
        row = self._session.get_one(Candidate, (job_id, number))
        for name, value in columns.items():
            setattr(row, name, value)
        self._session.flush()

    def is_settled(self, job_id: str) -> bool:
        """Return whether all candidates have ended."""
        return all(row.status not in UNSETTLED for row in self.of(job_id))

    def helper_jobs(self, job_id: str) -> list[str]:
        """List the ids of the active jobs that try candidates parallel to an automatic training."""
        rows = select(Job.id, Job.spec).where(Job.kind == TryCandidatesJob.kind, Job.status.in_(ACTIVE))
        return [
            helper_id
            for helper_id, spec in self._session.execute(rows)
            if spec.get("auto_train_id") == job_id
        ]

    def _is_free(self, row: Candidate) -> bool:
        if row.status == QUEUED:
            return True
        worker = self._session.get(Job, row.worker_job_id or "", populate_existing=True)
        return worker is None or worker.status != RUNNING or worker.token != row.worker_token

    def _record_end(self, job: Job) -> None:
        """Settle the candidates of an ended automatic training and cancel its parallel jobs."""
        if job.kind != AutoTrainJob.kind:
            return
        for row in self.of(job.id):
            if row.status in UNSETTLED:
                row.status, row.reason = NOT_TRIED, "the automatic training ended"
        self._session.flush()
        self._jobs.cancel_active(self.helper_jobs(job.id))
