"""The clock of a service, set by a test."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path


class ServiceClock:
    """The clock of all processes that are started with its `environment`.

    Args:
        path: File that sets the clock; replaced here, so that the clock starts as the machine's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ahead = timedelta()
        self._write()

    @property
    def environment(self) -> Mapping[str, str]:
        """The variable that makes a process use this clock."""
        return {"RANKERY_TEST_CLOCK": str(self._path)}

    def now(self) -> datetime:
        """Return the time by this clock."""
        return datetime.now(UTC) + self._ahead

    def set(self, moment: datetime) -> None:
        """Set the clock to a moment; it runs on from that moment."""
        self._ahead = moment - datetime.now(UTC)
        self._write()

    def _write(self) -> None:
        # The file is replaced atomically, since processes read it at any time.
        new = self._path.with_suffix(".new")
        new.write_text(str(self._ahead.total_seconds()))
        new.replace(self._path)
