"""Stored click logs."""

from collections.abc import Sequence
from typing import Any

from core.errors import WrongState
from core.store.repositories import ids
from core.store.repositories.data import DataRepository, columns_of
from core.store.tables import ClickLog


class ClickLogs(DataRepository[ClickLog]):
    """Click logs within one transaction."""

    table = ClickLog
    kind = "click log"
    id_prefix = ids.CLICK_LOG
    columns = columns_of(ClickLog, "lists", "impressions", "clicks")
    searched = (ClickLog.name.expression,)

    def ready(self, id: str) -> ClickLog:
        """Return a log that can be used.

        Raises:
            NotFound: The log does not exist.
            WrongState: The log has not been read, or could not be.
        """
        log = self.get(id)
        if log.status != "ready" or log.folder is None:
            raise WrongState(self.kind, id, log.status, "it can be used when it is ready")
        return log

    def hold(self, id: str) -> None:
        """Protect a log from deletion until the transaction ends.

        Raises:
            NotFound: The log does not exist.
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
            NotFound: The log does not exist.
        """
        log = self.get(id)
        log.status, log.problem, log.folder = "ready", None, folder
        log.statistics, log.findings = statistics, list(findings)
        if format is not None:
            log.source = {**log.source, "format": format}
        self._session.flush()
        return log
