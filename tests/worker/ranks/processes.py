"""Processes of ranks as the system shows them."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

_PROC = Path("/proc")
_STEP_SECONDS = 0.001


def running_ranks() -> dict[int, str]:
    """Return the processes of ranks that are children of this one: their names, `rank 2 gradients`, by id."""
    found = {}
    for pid in _children():
        name = _name_of(pid)
        if name.startswith("rank "):
            found[pid] = name
    return found


def ranks_of(parent: int) -> list[int]:
    """Return the processes of ranks that a process has started, also where it has died since."""
    found = []
    for entry in _PROC.glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"worker.ranks" in words and str(parent).encode() in words:
            found.append(int(entry.name))
    return found


def is_alone_within(seconds: float, parent: int | None = None) -> bool:
    """Tell whether a process, this one or another, has no rank left after so many seconds at most."""
    of = parent or os.getpid()
    deadline = time.monotonic() + seconds
    while ranks_of(of) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not ranks_of(of)


class Strike(threading.Thread):
    """Sends a signal to a rank while it is at a stage.

    The rank is stopped and looked at again and again, so that no stage is too short to be met.

    Args:
        name: How the process is called at the stage: `rank 1 histograms`, `rank 1` for any.
        number: The signal.
        times: How often, each time another process.
    """

    def __init__(self, name: str, number: signal.Signals, times: int = 1) -> None:
        super().__init__(daemon=True)
        self._name = name[:15]  # the system keeps no more
        self._number = number
        self._times = times
        self._struck: set[int] = set()
        self.struck_at: list[float] = []

    def run(self) -> None:
        """Strike."""
        while len(self.struck_at) < self._times:
            for pid, name in running_ranks().items():
                is_it = name.startswith(self._name[: len("rank 1")])
                if is_it and pid not in self._struck and self._is_struck(pid):
                    self._struck.add(pid)
                    self.struck_at.append(time.monotonic())
            time.sleep(0.0005)

    def _is_struck(self, pid: int) -> bool:
        """Let a rank continue in short steps until it is at the stage; then strike."""
        try:
            while True:
                os.kill(pid, signal.SIGSTOP)
                if _name_of(pid).startswith(self._name):
                    os.kill(pid, self._number)
                    return True
                os.kill(pid, signal.SIGCONT)
                time.sleep(_STEP_SECONDS)
        except ProcessLookupError:
            return False


def _name_of(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""


def _children() -> list[int]:
    found: list[int] = []
    for task in (_PROC / "self" / "task").iterdir():
        with contextlib.suppress(OSError):  # the thread has just ended
            found += map(int, (task / "children").read_text().split())
    return found
