"""The health file of a worker, for probes without access to the database."""

import json
import os
import re
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

READY = "ready"
COMPILING = "compiling kernels"
# Long, since the event loop that writes the file may wait for a lock of the database.
STALE_SECONDS = 60.0
_FOLDER = "health"


@dataclass(frozen=True)
class WorkerHealth:
    """The last health report of a worker of one lane.

    Attributes:
        state: `ready`, `compiling kernels`, or the error of its last sweep.
        written_at: Time of the report by the machine's monotonic clock.
        compiled: Parts of the kernels that are compiled.
        parts: Number of all parts; 0 if nothing is being compiled.
    """

    state: str
    written_at: float = 0.0
    compiled: int = 0
    parts: int = 0

    @property
    def is_live(self) -> bool:
        """Whether the report is recent; a report from the future is from before the machine restarted."""
        return 0.0 <= time.monotonic() - self.written_at < STALE_SECONDS

    def __str__(self) -> str:
        return f"{self.state}: {self.compiled} of {self.parts} parts" if self.parts else self.state


class WorkerHealthFile:
    """The file of this machine's worker of one lane.

    Args:
        data_dir: The worker's data folder, which several machines may share.
    """

    def __init__(self, data_dir: Path, lane: str) -> None:
        host = re.sub(r"[^\w.-]", "_", socket.gethostname())
        self._path = data_dir / _FOLDER / f"{host}-{lane}.json"

    def write(self, health: WorkerHealth) -> None:
        """Write a report with the current time; on an error, such as a full disk, the old report remains."""
        temporary = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps({**asdict(health), "written_at": time.monotonic()}))
            temporary.replace(self._path)

    def read(self) -> WorkerHealth | None:
        """Return the last report, None without a readable one."""
        try:
            return WorkerHealth(**json.loads(self._path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def remove(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self._path.unlink()
