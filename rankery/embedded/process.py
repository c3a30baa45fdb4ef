"""One process of the embedded service, with its log file; signals that end the service."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

_POLL_SECONDS = 0.02
# A killed process ends within milliseconds; do not wait for orphans that no init process reaps.
_GROUP_SECONDS = 2.0


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module; modules of the working directory are not imported."""
    return [sys.executable, "-P", "-m", module, *arguments]


@dataclass(frozen=True)
class ServiceProcess:
    """A running process of the service.

    Attributes:
        name: `broker`, `api` or `worker`.
        log_path: The file that its output is appended to.
        popen: The process, leader of a session and process group.
        command: Command line; omitted from `repr`, like the following attributes.
        descriptors: Open file descriptors that the process inherits.
        format_line: Formatter of output lines for the log; None keeps lines unchanged.
    """

    name: str
    log_path: Path
    popen: "subprocess.Popen[bytes]"
    command: Sequence[str] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    standard_input: str = field(repr=False)
    descriptors: Sequence[int] = field(repr=False)
    format_line: Callable[[str], str] | None = field(repr=False)

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str],
        *,
        log_path: Path,
        environment: Mapping[str, str],
        standard_input: str = "",
        descriptors: Sequence[int] = (),
        format_line: Callable[[str], str] | None = None,
    ) -> "ServiceProcess":
        """Start `command` so that it dies with this process and is not reached by the terminal's Ctrl-C."""
        tether = module_command("rankery.embedded.tether", str(os.getpid()))
        log_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        log_path.touch(mode=0o600)
        with log_path.open("ab") as log:
            popen = subprocess.Popen(  # noqa: S603 - our own commands
                [*tether, *command],
                stdin=subprocess.PIPE,
                stdout=log if format_line is None else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
                pass_fds=descriptors,
                umask=0o077,
            )
        if format_line is not None:
            arguments = (popen.stdout, log_path, format_line)
            threading.Thread(target=_copy_lines, args=arguments, name=f"{name}-log", daemon=True).start()
        if popen.stdin is not None:
            with suppress(BrokenPipeError):
                popen.stdin.write(standard_input.encode())
                popen.stdin.close()
        return cls(name, log_path, popen, command, environment, standard_input, descriptors, format_line)

    def restarted(self) -> "ServiceProcess":
        """Kill the rest of the process group, and start the same command again."""
        self.stop(0)
        return ServiceProcess.start(
            self.name,
            self.command,
            log_path=self.log_path,
            environment=self.environment,
            standard_input=self.standard_input,
            descriptors=self.descriptors,
            format_line=self.format_line,
        )

    @property
    def exit_code(self) -> int | None:
        """Exit code, None while the process runs; the negative signal number if it was killed."""
        return self.popen.poll()

    @property
    def ending(self) -> str:
        """Exit reason for a sentence: `exit code 3` or `killed by SIGKILL`."""
        code = self.exit_code
        if code is not None and code < 0:
            from core.subprocesses import signal_name

            return f"killed by {signal_name(-code)}"
        return f"exit code {code}"

    def last_line(self) -> str:
        """Return the last line of the log, or an empty text."""
        try:
            with self.log_path.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
                lines = log.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def stop(self, grace_seconds: float) -> None:
        """Send SIGTERM, wait for `grace_seconds`, then kill the process group."""
        if self.popen.poll() is None:
            self.popen.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.popen.wait(grace_seconds)
        self._kill_group()
        self.popen.wait()

    def _kill_group(self) -> None:
        # The group exists until its last member ends; until then its id cannot be reused.
        deadline = time.monotonic() + _GROUP_SECONDS
        while time.monotonic() < deadline:
            try:
                os.killpg(self.popen.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return
            self.popen.poll()
            time.sleep(_POLL_SECONDS)


def _copy_lines(output: IO[bytes], log_path: Path, format_line: Callable[[str], str]) -> None:
    with output, log_path.open("ab", buffering=0) as log:
        for line in output:
            # The disk may be full; a process whose output is not read would block.
            with suppress(OSError):
                log.write(f"{format_line(line.decode(errors='replace').rstrip())}\n".encode())


@contextmanager
def terminable() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP, so that the block ends with all cleanup."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    previous = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
