"""The embedded service as one object that starts, monitors and stops its processes."""

import http.client
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rankery.embedded.broker import (
    broker_answers,
    broker_configuration,
    broker_line_as_json,
    broker_url,
    find_broker,
)
from rankery.embedded.compilation_progress import compilation_progress
from rankery.embedded.lock import DataFolderLock
from rankery.embedded.ports import close, free_port, listen, port_of, reachable_host
from rankery.embedded.process import ServiceProcess, module_command
from rankery.errors import StackError, StackInterrupted
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.worker_health import WorkerHealthFile

BROKER_START_SECONDS = 10.0
API_START_SECONDS = 120.0
COMPILING_SECONDS = 1800.0  # first start of an installation on a busy machine
STOP_GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.05
_COMPILING_POLL_SECONDS = 0.3


class EmbeddedStack:
    """A private Valkey, the API and a worker under one data folder.

    Use it as a context manager; the service is up inside the block. Start it from a thread that outlives it,
    usually the main thread. On Linux the kernel kills all of these processes when that
    thread ends, even if this process is killed by SIGKILL.

    Example:
        ```python
        with EmbeddedStack(Path("rankery-data"), port=0) as stack:
            Client(stack.url).upload_dataset(Path("train.txt"))
        ```

    Attributes:
        data_dir: Absolute path of the data folder.
        host: The address that the API listens on.
        port: The port that the API listens on; for 0, a free port that is chosen at the start.
    """

    def __init__(
        self,
        data_dir: Path,
        host: str = "127.0.0.1",
        port: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir.absolute()
        self.host = host
        self.port = port
        self._extra_environment = dict(environment or {})
        self._lock = DataFolderLock(self.data_dir)
        self._listeners: list[socket.socket] = []
        self._processes: list[ServiceProcess] = []
        self._broker_url = ""
        self._interrupted = False

    def __enter__(self) -> "EmbeddedStack":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the dashboard and of the API."""
        return f"http://{reachable_host(self.host)}:{self.port}"

    @property
    def processes(self) -> Mapping[str, int]:
        """Ids of the running processes by process name, in the order of their start."""
        return {process.name: process.popen.pid for process in self._processes}

    def reserve(self) -> None:
        """Check the packages and the broker, listen on the port, lock the data folder; start nothing.

        Connections wait until the API accepts them.

        Raises:
            PackageMissing, PackageShadowed: A package of the server is missing, or shadowed by another.
            DataFolderInUse: The folder is taken.
            StackError: The port is taken, the disk is full, or no Valkey or Redis server was found.
        """
        require_server_package()
        find_broker()
        try:
            self._listeners = listen(self.host, self.port)
        except StackError:
            if self._lock.is_taken():
                self._lock.acquire()  # its error has the address of the service that has the port, too
                self._lock.release()  # the service ended meanwhile
            raise
        self.port = port_of(self._listeners)
        try:
            self._lock.acquire()
            if (full := disk_full_message(self.data_dir)) is not None:
                raise StackError(full)
        except StackError:
            self._release()
            raise

    def start(self) -> None:
        """Start all processes and wait until the API can score; the worker may still be starting.

        Then write the URL into the lock file of the data folder, for other commands.

        Raises:
            PackageMissing, PackageShadowed, DataFolderInUse: See `reserve`.
            StackError: `reserve` failed, or a process died or was not ready in time.
            StackInterrupted: `interrupt` was called during the start.
        """
        if not self._lock.is_held:
            self.reserve()
        try:
            self._clear_temporary_folder()
            self._temporary_folder.mkdir(mode=0o700)
            self._worker_health.remove()
            self._start_broker()
            descriptors = [listener.fileno() for listener in self._listeners]
            options = [f"--descriptor={descriptor}" for descriptor in descriptors]
            self._start("api", module_command("rankery", "api", *options), descriptors=descriptors)
            self._start("worker", module_command("rankery", "worker"))
            self._wait("api", lambda: self._api_answers("healthz"), API_START_SECONDS)
            self._wait_for_kernels()
            self._lock.write_url(self.url)
        except BaseException:
            self.stop()
            raise

    def stop(self, grace_seconds: float = STOP_GRACE_SECONDS) -> None:
        """Stop all processes in reverse order; idempotent."""
        self._lock.write_url("")
        close(self._listeners)  # else connections wait once the API has closed its own sockets
        while self._processes:
            self._processes[-1].stop(grace_seconds)
            self._processes.pop()
        if self._lock.is_held:
            self._clear_temporary_folder()
        self._release()

    def _release(self) -> None:
        close(self._listeners)
        self._lock.release()

    def interrupt(self) -> None:
        """Abort a `start` in progress; safe to call from a signal handler."""
        self._interrupted = True

    def check(self) -> None:
        """Raise if a process has ended unexpectedly.

        Raises:
            StackError: A process has ended; the message has its name, exit reason, log file, and the last log
                line or the full disk.
        """
        for process in self.ended():
            raise StackError(f"{self.unexpected_end(process)} (log: {process.log_path})")

    def ended(self) -> list[ServiceProcess]:
        """Return the processes that have ended unexpectedly."""
        return [process for process in self._processes if process.exit_code is not None]

    def unexpected_end(self, process: ServiceProcess) -> str:
        """Return a message with the exit reason of a process and its cause: full disk or last log line."""
        # On a full disk the last line of the log is truncated: report the full disk instead.
        cause = disk_full_message(self.data_dir) or (
            process.last_line() if (process.exit_code or 0) > 0 else ""
        )
        end = f"the {process.name} process ended unexpectedly ({process.ending})"
        return f"{end}: {cause}" if cause else end

    def restart(self, process: ServiceProcess) -> None:
        """Restart a process that has ended, at the same address."""
        self._processes[self._processes.index(process)] = process.restarted()

    @property
    def _temporary_folder(self) -> Path:
        return self.data_dir / "temporary"

    def _clear_temporary_folder(self) -> None:
        # Killed processes leave files only in this folder, so the next start can remove them.
        shutil.rmtree(self._temporary_folder, ignore_errors=True)

    def _start_broker(self) -> None:
        port, password = free_port("127.0.0.1"), secrets.token_urlsafe(32)
        self._broker_url = broker_url(port, password)
        # Not the data folder, where a dump of another version might be loaded.
        configuration = broker_configuration(port, password, self._temporary_folder)
        is_json = self._environment().get("RANKERY_LOG_FORMAT") == "json"
        format_line = broker_line_as_json if is_json else None
        self._start("broker", [find_broker(), "-"], configuration, format_line=format_line)
        self._wait("broker", lambda: broker_answers(self._broker_url), BROKER_START_SECONDS)

    def _start(
        self,
        name: str,
        command: list[str],
        standard_input: str = "",
        descriptors: Sequence[int] = (),
        format_line: Callable[[str], str] | None = None,
    ) -> None:
        process = ServiceProcess.start(
            name,
            command,
            log_path=self.data_dir / "logs" / f"{name}.log",
            environment=self._environment(),
            standard_input=standard_input,
            descriptors=descriptors,
            format_line=format_line,
        )
        self._processes.append(process)

    def _environment(self) -> dict[str, str]:
        return {
            "PYTHONUNBUFFERED": "1",
            **os.environ,
            **self._extra_environment,
            "RANKERY_DATA_DIR": str(self.data_dir),
            "RANKERY_BROKER_URL": self._broker_url,
            "RANKERY_HOST": self.host,
            "RANKERY_PORT": str(self.port),
            "TMPDIR": str(self._temporary_folder),
        }

    @property
    def _worker_health(self) -> "WorkerHealthFile":
        from core.worker_health import WorkerHealthFile

        return WorkerHealthFile(self.data_dir, "training")

    def _wait_for_kernels(self) -> None:
        """Wait until the API can score; on the first start, show the progress of kernel compilation."""
        with compilation_progress() as report:

            def are_compiled() -> bool:
                health = self._worker_health.read()
                if health is not None and health.parts:
                    report(health.compiled, health.parts)
                    time.sleep(_COMPILING_POLL_SECONDS)
                    return False
                return self._api_answers("readyz?for=scoring")

            self._wait("api", are_compiled, COMPILING_SECONDS)

    def _wait(self, name: str, condition: Callable[[], bool], limit_seconds: float) -> None:
        deadline = time.monotonic() + limit_seconds
        while not condition():
            self.check()
            if self._interrupted:
                raise StackInterrupted
            if time.monotonic() > deadline:
                log_path = next(one.log_path for one in self._processes if one.name == name)
                raise StackError(
                    f"the {name} process was not ready after {limit_seconds:g} s (log: {log_path})"
                )
            time.sleep(_POLL_SECONDS)
        # A foreign server on the same port may have answered: check that our processes run.
        self.check()

    def _api_answers(self, path: str) -> bool:
        # Not httpx, which takes 20 ms of CPU time per request to load certificates.
        connection = http.client.HTTPConnection(reachable_host(self.host), self.port, timeout=2)
        try:
            connection.request("GET", f"/{path}")
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


MEGABYTE = 10**6
# A start in a new folder takes up to 0.7 MB: two copies of the database during migration, and the logs.
START_BYTES = 4 * MEGABYTE


def disk_full_message(data_dir: Path) -> str | None:
    """Return an error message if the disk of a data folder is too full for the service, else None."""
    folder = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes >= START_BYTES:
        return None
    return (
        f"the disk of {data_dir} is full: {free_bytes / MEGABYTE:.1f} MB are free, and the service needs"
        f" {START_BYTES / MEGABYTE:g} MB to start; free space there, or choose another folder with --data-dir"
    )
