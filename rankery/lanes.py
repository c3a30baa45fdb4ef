"""A worker of several lanes: a process for each, so that short jobs do not wait behind long trainings."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rankery.errors import ProcessFailed

LANES = ("training", "quick")

_WATCH_SECONDS = 0.2
_RESTART_SECONDS = 1.0
# A lane that ends so often in so short a time cannot be helped by starting it again.
_ENDINGS = 5
_ENDINGS_SECONDS = 60.0


def run_lanes(arguments: Sequence[str], lanes: Sequence[str] = LANES) -> None:
    """Run a process for each lane until SIGINT or SIGTERM; one that ends by itself is started again.

    Args:
        arguments: What follows `rankery worker --lane …`.
        lanes: The lanes.

    Raises:
        ProcessFailed: A lane ends again and again.
    """
    with _signals_noted() as signalled:
        running = {lane: _Lane(lane, arguments) for lane in lanes}
        try:
            while not signalled():
                for lane in running.values():
                    lane.keep_up()
                time.sleep(_WATCH_SECONDS)
        finally:
            for lane in running.values():
                lane.terminate()
            for lane in running.values():
                lane.wait()


class _Lane:
    """The process of one lane. It dies with this process, and is not reached by the terminal's Ctrl-C."""

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self._name = name
        self._command = [
            *(sys.executable, "-m", "rankery.embedded.tether", str(os.getpid())),
            *(sys.executable, "-m", "rankery", "worker", "--lane", name, *arguments),
        ]
        self._ended_at: list[float] = []
        self._popen = self._start()

    def keep_up(self) -> None:
        """Start the process again where it has ended."""
        now = time.monotonic()
        if self._popen.poll() is not None:
            self._ended_at = [at for at in self._ended_at if now - at < _ENDINGS_SECONDS] + [now]
            if len(self._ended_at) >= _ENDINGS:
                raise ProcessFailed(
                    f"the worker of the {self._name} lane ended {_ENDINGS} times in a row, "
                    f"the last time with exit code {self._popen.returncode}"
                )
            time.sleep(_RESTART_SECONDS)
            self._popen = self._start()

    def terminate(self) -> None:
        """Ask the process to end."""
        if self._popen.poll() is None:
            self._popen.terminate()

    def wait(self) -> None:
        """Wait until the process has ended."""
        self._popen.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, start_new_session=True)  # noqa: S603 - our own command


@contextmanager
def _signals_noted() -> Iterator["_Signalled"]:
    signalled = _Signalled()
    numbers = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, signalled.note) for number in numbers}
    try:
        yield signalled
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Signalled:
    def __init__(self) -> None:
        self._noted = False

    def __call__(self) -> bool:
        return self._noted

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self._noted = True
