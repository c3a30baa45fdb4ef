"""Stored click logs."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import String, func

from core.errors import WrongState
from core.store.repositories import ids
from core.store.repositories.data import DataRepository
from core.store.repositories.projects import Projects
from core.store.tables import ClickLog


class ClickLogs(DataRepository[ClickLog]):
    """Click logs within one transaction."""

    table = ClickLog
    kind = "click log"
    id_prefix = ids.CLICK_LOG
    columns = MappingProxyType(
        {
            "created": None,
            "name": func.lower(ClickLog.name, type_=String),
            "status": ClickLog.status.expression,
            "size": ClickLog.size_bytes.expression,
            **{name: ClickLog.statistics[name].as_integer() for name in ("lists", "impressions", "clicks")},
        }
    )
    searched = (ClickLog.name.expression,)

    def add(
        self,
        name: str,
        source: dict[str, Any],
        id: str | None = None,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        key_id: str | None = None,
        project: str | None = None,
    ) -> ClickLog:
        """Add a pending click log.

        Args:
            name: Display name.
            source: Its origin, see `core.store.tables.ClickLog`.
            id: Its id if its bytes are stored already, else None.
            size_bytes: Size of the bytes as sent.
            sha256: Checksum of the bytes as sent, in hexadecimal.
            key_id: The API key that sent it, None without authentication.
            project: Its project, or None.

        Raises:
            InvalidInput: The caller is limited to other projects, or must select a project.
        """
        return self._insert(
            id=id,
            name=name,
            source=source,
            size_bytes=size_bytes,
            sha256=sha256,
            key_id=key_id,
            project=Projects(self._session).of_new(project),
        )

    def ready(self, id: str) -> ClickLog:
        """Return a log that can be used.

        Raises:
            NotFound: It does not exist.
            WrongState: It has not been read, or could not be.
        """
        log = self.get(id)
        if log.status != "ready" or log.folder is None:
            raise WrongState(self.kind, id, log.status, "it can be used when it is ready")
        return log

    def hold(self, id: str) -> None:
        """Protect a log from deletion until the transaction ends.

        Raises:
            NotFound: It does not exist.
        """
        self._existing(self._session.get(ClickLog, id, with_for_update={"read": True}), id)

    def mark_ready(
        self,
        id: str,
        *,
        folder: str,
        statistics: dict[str, Any],
        findings: Sequence[dict[str, Any]] = (),
        format: str | None = None,
    ) -> ClickLog:
        """Mark a log as ready.

        Args:
            id: The log.
            folder: Folder of its columns.
            statistics: Counts, see `core.clicks.statistics`.
            findings: Findings of the doctor.
            format: Detected format of the files, None for a log that was not read.

        Raises:
            NotFound: It does not exist.
        """
        log = self.get(id)
        log.status, log.problem, log.folder = "ready", None, folder
        log.statistics, log.findings = statistics, list(findings)
        if format is not None:
            log.source = {**log.source, "format": format}
        self._session.flush()
        return log
