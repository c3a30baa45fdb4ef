"""The processes of the service, each of which is restarted when it ends, as a supervisor does."""

import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rankery.embedded.process import ServiceProcess

RESTART_SECONDS = 0.5
STOP_SECONDS = 30.0
_READY = re.compile(r"worker\.ready.*/(\d+)\b")


class Part:
    """A process that runs `python -m rankery api` or `python -m rankery worker`, as users do.

    The thread that starts it must outlive it, because the process ends with that thread.

    Args:
        name: Name in logs, such as `worker-1`.
        arguments: Arguments of `rankery`.
        environment: Variables in addition to those of the tests.
        folder: Folder of its log.
    """

    def __init__(self, name: str, arguments: list[str], environment: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self._command = [sys.executable, "-m", "rankery", *arguments]
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
        self._log_path = folder / f"{name}.log"
        self._process: ServiceProcess | None = None
        self._ended_at: float | None = None
        self._log_start = 0
        self.is_supervised = True

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.popen.pid

    @property
    def runs(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.exit_code is None

    def start(self) -> None:
        """Start the process without waiting until it is ready."""
        self._ended_at = None
        self._log_start = self._log_path.stat().st_size if self._log_path.exists() else 0
        self._process = ServiceProcess.start(
            self.name, self._command, log_path=self._log_path, environment=self._environment
        )

    def ready_processes(self) -> set[int]:
        """Return the ids of the worker's pool processes that can take a job."""
        log = self._log_path.read_bytes()[self._log_start :].decode(errors="replace")
        logged = {int(pid) for pid in _READY.findall(log)}
        return logged & self.descendants() if self.runs else set()

    def restart_if_ended(self) -> None:
        """Start the process again if it ended at least `RESTART_SECONDS` ago."""
        if not self.is_supervised or self.runs:
            return
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        if now - self._ended_at >= RESTART_SECONDS:
            self.start()

    def kill(self) -> None:
        """Kill the process; its child processes are not killed."""
        assert self._process is not None
        self._process.popen.kill()
        self._process.popen.wait()

    def terminate(self) -> tuple[int, float]:
        """Send SIGTERM; return the exit code and the seconds until the exit."""
        assert self._process is not None
        sent_at = time.monotonic()
        self._process.popen.terminate()
        code = self._process.popen.wait(STOP_SECONDS)
        return code, time.monotonic() - sent_at

    def stop(self) -> None:
        """End the process and all its descendants."""
        if self._process is not None:
            self._process.stop(STOP_SECONDS)

    def descendants(self) -> set[int]:
        """Return the ids of all descendant processes."""
        pids: set[int] = set()
        waiting = [self.pid]
        while waiting:
            children = _children(waiting.pop()) - pids
            pids |= children
            waiting += children
        return pids


def kill_all(part: Part) -> None:
    """Kill a part with all of its processes, as the loss of its machine does."""
    below = part.descendants() if part.runs else set()
    part.kill()
    for pid in below:
        kill_process(pid)


def kill_process(pid: int) -> None:
    """Kill one process of a part, as the kernel does when memory runs out."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> set[int]:
    try:
        lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return set()
    return {int(child) for line in lists for child in line.split()}
