"""Processes of ranks as the system shows them."""

import os
import signal
import threading
import time
from pathlib import Path

_PROC = Path("/proc")


def running_ranks() -> dict[int, str]:
    """Return the processes of ranks that are children of this one: their names, `rank 2 gradients`, by id."""
    found = {}
    for pid in _children():
        try:
            name = (_PROC / str(pid) / "comm").read_text().strip()
        except OSError:
            continue
        if name.startswith("rank "):
            found[pid] = name
    return found


def rank_commands() -> list[int]:
    """Return all processes of the machine that run the module of ranks."""
    found = []
    for entry in _PROC.glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"worker.ranks" in words:
            found.append(int(entry.name))
    return found


class Strike(threading.Thread):
    """Sends a signal to a rank while it is at a stage.

    The process is stopped first and looked at then, so that it is at that stage when the signal comes.

    Args:
        name: Of the process: `rank 1 histograms`, cut off at 15 characters as the system does.
        number: The signal.
        times: How often.
    """

    def __init__(self, name: str, number: signal.Signals, times: int = 1) -> None:
        super().__init__(daemon=True)
        self._name = name[:15]
        self._number = number
        self._times = times
        self.struck_at: list[float] = []

    def run(self) -> None:
        """Strike."""
        while len(self.struck_at) < self._times:
            for pid, name in running_ranks().items():
                if name == self._name and self._is_struck(pid):
                    self.struck_at.append(time.monotonic())
            time.sleep(0.0005)

    def _is_struck(self, pid: int) -> bool:
        try:
            os.kill(pid, signal.SIGSTOP)
            if running_ranks().get(pid) != self._name:
                os.kill(pid, signal.SIGCONT)
                return False
            os.kill(pid, self._number)
        except ProcessLookupError:
            return False
        return True


def _children() -> list[int]:
    tasks = _PROC / "self" / "task"
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
