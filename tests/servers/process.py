"""A server as a separate process, which ends with the tests."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

# The embedded service has the same limit for its API: imports take half a minute on a busy machine.
START_SECONDS = 120.0
STOP_SECONDS = 20.0


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port of this machine that no other process gets.

    Connections to it are refused, unless a server with `SO_REUSEADDR` listens at it.
    """
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def tied(command: Sequence[str], end_signal: signal.Signals = signal.SIGTERM) -> list[str]:
    """Return a command that ends with the thread that starts it, by a parent-death signal of `setpriv`.

    Without `setpriv`, the command is unchanged.
    """
    setpriv = shutil.which("setpriv")
    tie = [] if setpriv is None else [setpriv, "--pdeathsig", end_signal.name.removeprefix("SIG")]
    return [*tie, *command]


class ServerProcess:
    """A command that is started, asked to end, killed, frozen and started again.

    Args:
        command: Command to run, usually from `tied`. It must stay in the foreground.
        log: File to which its output is appended.
        answers: Returns whether the server accepts requests.
        end_signal: Signal that ends it in an orderly and quick way.
        environment: Variables in addition to those of the tests.
        start_seconds: Limit of the time to start.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        answers: Callable[[], bool],
        end_signal: signal.Signals = signal.SIGTERM,
        environment: Mapping[str, str] | None = None,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._command = command
        self._log = log
        self._answers = answers
        self._end_signal = end_signal
        self._start_seconds = start_seconds
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, None if the process does not run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process and wait until the server answers.

        A process that ends is started again, since remains of a killed process may block the first start.
        """
        deadline = time.monotonic() + self._start_seconds
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                self._launch()
            elif self._answers():
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"{self._command} did not start: {self._log.read_text()[-2000:]}")

    def stop(self) -> None:
        """End the process in an orderly way."""
        self._end(self._end_signal)

    def kill(self) -> None:
        """Kill the process."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Suspend the process: connections are accepted, and requests are not answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the suspended process."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _launch(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
