"""Processes of ranks, as listed in `/proc`."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

_PROC = Path("/proc")
_STEP_SECONDS = 0.001


def running_ranks() -> dict[int, str]:
    """Return the rank processes that are children of this one: names such as `rank 2 gradients`, by id."""
    names = {pid: _name_of(pid) for pid in _children()}
    return {pid: name for pid, name in names.items() if name.startswith("rank ")}


def ranks_of(parent: int) -> list[int]:
    """Return the ids of running rank processes of a driver, even if the driver has ended."""
    ranks = []
    for entry in _PROC.glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"worker.ranks" in words and str(parent).encode() in words:
            ranks.append(int(entry.name))
    return ranks


def ranks_end_within(seconds: float, parent: int | None = None) -> bool:
    """Return whether all ranks of a driver, by default this process, end within this time."""
    driver = parent or os.getpid()
    deadline = time.monotonic() + seconds
    while ranks_of(driver) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not ranks_of(driver)


class SignalAtStage(threading.Thread):
    """A thread that sends a signal to a rank during a stage.

    The rank is stopped and checked again and again, so that even a short stage gets the signal.

    Args:
        name: Process name during the stage, such as `rank 1 histograms`; `rank 1` for any stage.
        number: Signal to send.
        times: Number of signals, each to another process.
    """

    def __init__(self, name: str, number: signal.Signals, times: int = 1) -> None:
        super().__init__(daemon=True)
        self._name = name[:15]  # the system keeps 15 characters
        self._signal = number
        self._times = times
        self._signalled: set[int] = set()
        self.sent_at: list[float] = []

    def run(self) -> None:
        """Send the signals."""
        while len(self.sent_at) < self._times:
            for pid, name in running_ranks().items():
                is_target = name.startswith(self._name[: len("rank 1")])
                if is_target and pid not in self._signalled and self._send_at_stage(pid):
                    self._signalled.add(pid)
                    self.sent_at.append(time.monotonic())
            time.sleep(0.0005)

    def _send_at_stage(self, pid: int) -> bool:
        """Let a rank continue in short steps until the stage, and send the signal; False if it ended."""
        try:
            while True:
                os.kill(pid, signal.SIGSTOP)
                if _name_of(pid).startswith(self._name):
                    os.kill(pid, self._signal)
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
    children: list[int] = []
    for task in (_PROC / "self" / "task").iterdir():
        with contextlib.suppress(OSError):  # the thread has just ended
            children += map(int, (task / "children").read_text().split())
    return children
