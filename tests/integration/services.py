"""`rankery serve` as a user runs it: a separate process, watched through its terminal output."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

QUICK_RECOVERY = {
    "RANKERY_LEASE_SECONDS": "3",
    "RANKERY_HEARTBEAT_SECONDS": "0.5",
    "RANKERY_SWEEP_SECONDS": "0.5",
}
START_SECONDS = 120.0
# Parts of a service, by words of their command lines.
PARTS = {"broker": "valkey-server 127.0.0.1", "api": "rankery api", "worker": "rankery worker"}


class Service:
    """A running `rankery serve`. Leaving the block kills it if it still runs."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str], *arguments: str) -> None:
        command = [sys.executable, "-m", "rankery", "serve", "--data-dir", str(data_dir), *arguments]
        self.data_dir = data_dir
        self.popen = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
        )
        self.lines: list[str] = []
        self._url: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Service":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.popen.kill()
        self.wait_for_end()

    def url(self, limit_seconds: float = START_SECONDS) -> str | None:
        """Wait for the dashboard's URL in the output; return None if it is not printed in time."""
        try:
            return self._url.get(timeout=max(0.0, limit_seconds))
        except queue.Empty:
            return None

    def wait_for_url(self) -> str:
        """Wait for the dashboard's URL, which the service must print, and return it."""
        url = self.url()
        assert url is not None, self.lines
        return url

    def end(self, number: signal.Signals) -> int:
        """Send a signal and wait; return the exit code."""
        self.popen.send_signal(number)
        return self.wait_for_end()

    def wait_for_end(self, limit_seconds: float = 60) -> int:
        """Wait for the end and return the exit code."""
        code = self.popen.wait(limit_seconds)
        self._reader.join(5)
        return code

    def _read(self) -> None:
        assert self.popen.stdout is not None
        with self.popen.stdout:
            for line in self.popen.stdout:
                self.lines.append(line.rstrip("\n"))
                if url := re.search(r"dashboard: (http[^\s\"]+)", line):
                    self._url.put(url[1])
