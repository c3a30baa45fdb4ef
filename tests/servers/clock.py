"""The clock of a service, set by a test."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path


class ServiceClock:
    """The clock of all processes that were started with its `environment`.

    Args:
        path: The file that it is set by; made anew, so that the clock is the machine's at first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ahead = timedelta()
        self._write()

    @property
    def environment(self) -> Mapping[str, str]:
        """The variable that ties a process to this clock."""
        return {"RANKERY_TEST_CLOCK": str(self._path)}

    def now(self) -> datetime:
        """Return the time by this clock."""
        return datetime.now(UTC) + self._ahead

    def set(self, moment: datetime) -> None:
        """Set it; it continues from there."""
        self._ahead = moment - datetime.now(UTC)
        self._write()

    def _write(self) -> None:
        # Replaced as a whole: processes read it at any time.
        new = self._path.with_suffix(".new")
        new.write_text(str(self._ahead.total_seconds()))
        new.replace(self._path)
