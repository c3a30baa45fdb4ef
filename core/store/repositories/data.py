"""Base class of the repositories of datasets and click logs, whose rows a job fills."""

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from sqlalchemy import String, func, select

from core.errors import NotFound
from core.store.repositories.pages import Columns
from core.store.repositories.projects import Projects
from core.store.repositories.repository import Repository
from core.store.tables import ClickLog, Dataset, Job

DataStatus = Literal["pending", "ready", "invalid"]
Data = TypeVar("Data", Dataset, ClickLog)


def columns_of(table: type[Dataset] | type[ClickLog], *counts: str) -> Columns:
    """Return the sort keys of a list of data, with counts among its statistics."""
    return MappingProxyType(
        {
            "created": None,
            "name": func.lower(table.name, type_=String),
            "status": table.status.expression,
            "size": table.size_bytes.expression,
            **{name: table.statistics[name].as_integer() for name in counts},
        }
    )


class DataRepository(Repository[Data]):
    """Datasets or click logs, which are pending until their job has read or made them."""

    def add(
        self,
        name: str,
        source: dict[str, Any],
        id: str | None = None,
        *,
        project: str | None = None,
        **values: Any,
    ) -> Data:
        """Add pending data.

        Args:
            name: Display name.
            source: Origin, see `core.store.tables`.
            id: Id if the bytes are stored already, else None.
            project: Project, or None.
            values: Other columns: `size_bytes` and `sha256` of the bytes as sent, `key_id` of the API key
                that sent them, and `parts`, the ids of all datasets of one upload.

        Raises:
            InvalidInput: The caller is limited to other projects, or must select a project.
        """
        new_project = Projects(self._session).of_new(project)
        return self._insert(id=id, name=name, source=source, project=new_project, **values)

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

    def record_download(self, id: str, files: Sequence[dict[str, Any]]) -> Data:
        """Record the downloaded files that the data are read from.

        Args:
            id: The row.
            files: For each file its `address`, `size_bytes` and `sha256`, and its version if known.

        Raises:
            NotFound: The row does not exist.
        """
        row = self.get(id)
        row.source = {**row.source, "read": list(files)}
        row.size_bytes = sum(file["size_bytes"] for file in files)
        row.sha256 = files[0]["sha256"] if len(files) == 1 else None
        self._session.flush()
        return row
