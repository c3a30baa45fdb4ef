"""Base class of the repositories of datasets and click logs, whose rows a job fills."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from sqlalchemy import select

from core.errors import NotFound
from core.store.repositories.repository import Repository
from core.store.tables import ClickLog, Dataset, Job

Data = TypeVar("Data", Dataset, ClickLog)


class DataRepository(Repository[Data]):
    """Datasets or click logs, which are pending until their job has read or made them."""

    def names(self, object_ids: Iterable[str | None]) -> dict[str, str]:
        """Return the names of some rows by id, without those that do not exist."""
        wanted = {object_id for object_id in object_ids if object_id is not None}
        rows = select(self.table.id, self.table.name).where(self.table.id.in_(wanted))
        return {row.id: row.name for row in self._session.execute(rows)}

    def attach_job(self, id: str, job_id: str) -> Data:
        """Set the job that reads or makes the data.

        Raises:
            NotFound: The row or the job does not exist.
        """
        row = self.get(id)
        if self._session.get(Job, job_id) is None:
            raise NotFound("job", job_id)
        row.job_id = job_id
        self._session.flush()
        return row

    def record_download(self, id: str, read: Sequence[dict[str, Any]]) -> Data:
        """Record the downloaded files that the data are read from.

        Args:
            id: The row.
            read: For each file its `address`, `size_bytes` and `sha256`, and its version if known.

        Raises:
            NotFound: It does not exist.
        """
        row = self.get(id)
        row.source = {**row.source, "read": list(read)}
        row.size_bytes = sum(file["size_bytes"] for file in read)
        row.sha256 = read[0]["sha256"] if len(read) == 1 else None
        self._session.flush()
        return row
