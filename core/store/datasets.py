"""The datasets on record."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound, WrongState
from core.store import ids
from core.store.job_states import ACTIVE
from core.store.pages import Page, Span
from core.store.tables import Dataset, Job, JobDataset


class Datasets:
    """Datasets within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        name: str,
        source: dict[str, Any],
        id: str | None = None,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
    ) -> Dataset:
        """Record a dataset that is still to be ingested.

        Args:
            name: What its owner calls it.
            source: Where it comes from.
            id: Made beforehand, where its bytes had to be stored first.
            size_bytes: Size of the bytes as sent.
            sha256: Checksum of the bytes as sent, in hexadecimal.
        """
        dataset = Dataset(
            id=id or ids.new_id(ids.DATASET), name=name, source=source, size_bytes=size_bytes, sha256=sha256
        )
        self._session.add(dataset)
        self._session.flush()
        return dataset

    def get(self, id: str) -> Dataset:
        """Return one dataset.

        Raises:
            NotFound: There is none.
        """
        dataset = self._session.get(Dataset, id)
        if dataset is None:
            raise NotFound("dataset", id)
        return dataset

    def page(self, cursor: str | None, limit: int, status: str | None = None) -> Page[Dataset]:
        """List datasets, newest first, of one status where given."""
        rows = select(Dataset)
        if status is not None:
            rows = rows.where(Dataset.status == status)
        return Span(cursor, limit).take(self._session, rows, Dataset.id, ids.DATASET)

    def attach_job(self, id: str, job_id: str) -> Dataset:
        """Name the job that ingests the dataset.

        Raises:
            NotFound: Either does not exist.
        """
        dataset = self.get(id)
        if self._session.get(Job, job_id) is None:
            raise NotFound("job", job_id)
        dataset.job_id = job_id
        self._session.merge(JobDataset(job_id=job_id, dataset_id=id))
        self._session.flush()
        return dataset

    def mark_ready(
        self,
        id: str,
        *,
        statistics: dict[str, Any],
        size_bytes: int | None = None,
        sha256: str | None = None,
    ) -> Dataset:
        """Record that the dataset was read and may be used.

        Raises:
            NotFound: There is none.
        """
        dataset = self.get(id)
        dataset.status, dataset.statistics, dataset.problem = "ready", statistics, None
        dataset.size_bytes = dataset.size_bytes if size_bytes is None else size_bytes
        dataset.sha256 = dataset.sha256 if sha256 is None else sha256
        self._session.flush()
        return dataset

    def mark_invalid(self, id: str, problem: dict[str, Any]) -> Dataset:
        """Record why the dataset cannot be used.

        Raises:
            NotFound: There is none.
        """
        dataset = self.get(id)
        dataset.status, dataset.problem = "invalid", problem
        self._session.flush()
        return dataset

    def delete(self, id: str) -> None:
        """Forget a dataset; its artifacts are the caller's to delete once this has been committed.

        Raises:
            NotFound: There is none.
            WrongState: A queued or running job uses it.
        """
        # Locked first: a job that is being added then either shows in the next statement or finds no dataset.
        dataset = self._session.get(Dataset, id, with_for_update=True)
        if dataset is None:
            raise NotFound("dataset", id)
        user = self._session.scalar(
            select(Job.id)
            .join(JobDataset, JobDataset.job_id == Job.id)
            .where(JobDataset.dataset_id == id, Job.status.in_(ACTIVE))
            .limit(1)
        )
        if user is not None:
            raise WrongState("dataset", id, dataset.status, f"{user} is using it; cancel it or wait")
        self._session.delete(dataset)
        self._session.flush()
