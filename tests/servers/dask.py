"""A Dask cluster for tests: a scheduler and workers over TLS, each in a separate process."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.requirements import require_program
from tests.servers.process import START_SECONDS, ServerProcess, free_port, tied

_HOST = "127.0.0.1"
# Modules are run as Dask's commands do; workers have no nanny, which would restart a killed worker.
_DASK = [sys.executable, "-W", "ignore", "-m"]
# By default, idle processes profile themselves 100 times per second and check their event loop 50 times.
_IDLE = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
}


@dataclass(frozen=True)
class Certificates:
    """A certificate authority, and a certificate that it signed.

    Attributes:
        folder: Folder of `ca.pem`, `cert.pem` and `key.pem`.
    """

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> "Certificates":
        """Create the certificates with OpenSSL, as the guide does."""
        program = require_program("openssl", "openssl")
        folder.mkdir(parents=True)
        elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        authority = ["req", "-x509", *elliptic, "-days", "1", "-subj", "/CN=ranks", "-keyout", "ca.key"]
        request = ["req", *elliptic, "-subj", "/CN=rank", "-keyout", "key.pem", "-out", "rank.csr"]
        signing = ["x509", "-req", "-in", "rank.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
        for command in (
            [*authority, "-out", "ca.pem"],
            request,
            [*signing, "-days", "1", "-out", "cert.pem"],
        ):
            subprocess.run([program, *command], cwd=folder, check=True, capture_output=True)
        return cls(folder)

    @property
    def options(self) -> list[str]:
        """The TLS options of Dask's commands."""
        ca, cert, key = (str(self.folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
        return ["--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key]

    @property
    def settings(self) -> dict[str, Path]:
        """The TLS settings of a worker."""
        return {f"dask_tls_{name}_file": self.folder / f"{name}.pem" for name in ("ca", "cert", "key")}

    @property
    def environment(self) -> dict[str, str]:
        """The TLS settings as environment variables."""
        return {f"RANKERY_{name}".upper(): str(path) for name, path in self.settings.items()}


class DaskCluster:
    """A scheduler and its workers, over TLS.

    Args:
        folder: Folder of certificates and logs.
        n_workers: Workers to start, of one thread each.
        environment: Additional environment variables of the workers.
    """

    def __init__(
        self, folder: Path, n_workers: int = 2, environment: Mapping[str, str] | None = None
    ) -> None:
        self.certificates = Certificates.made(folder / "certificates")
        self.port = free_port()
        self.address = f"tls://{_HOST}:{self.port}"
        self._folder = folder
        self._environment = environment or {}
        address = ["--host", _HOST, "--port", str(self.port)]
        command = ["distributed.cli.dask_scheduler", *address, "--no-dashboard", *self.certificates.options]
        self.scheduler = ServerProcess(
            tied([*_DASK, *command]), folder / "scheduler.log", self._answers, environment=_IDLE
        )
        # The guide offers two kinds of worker, which are equivalent.
        kinds = (self._rank_worker, self._dask_worker)
        self.workers = [kinds[number % 2](f"worker-{number}") for number in range(n_workers)]

    @property
    def settings(self) -> dict[str, Path | str]:
        """The settings with which a worker of Rankery uses the cluster."""
        return {"dask_scheduler": self.address, **self.certificates.settings}

    def log_of(self, worker: str) -> Path:
        """Return the log of a worker, which is named `worker-0` and so on."""
        return self._folder / f"{worker}.log"

    def start(self) -> None:
        """Start the scheduler and the workers, and wait until the workers have registered."""
        self.scheduler.start()
        for worker in self.workers:
            worker.start()

    def kill(self) -> None:
        """Kill the workers and the scheduler."""
        for process in (*self.workers, self.scheduler):
            process.kill()

    def _rank_worker(self, name: str) -> ServerProcess:
        command = [sys.executable, "-m", "rankery", "rank-worker", "--scheduler", self.address]
        return self._worker(name, [*command, "--threads", "1"])

    def _dask_worker(self, name: str) -> ServerProcess:
        local = ["--name", name, "--host", _HOST, "--local-directory", str(self._folder / name)]
        quiet = ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
        command = ["distributed.cli.dask_worker", self.address, *local, *quiet]
        return self._worker(name, [*_DASK, *command, *self.certificates.options])

    def _worker(self, name: str, command: Sequence[str]) -> ServerProcess:
        log = self.log_of(name)
        environment = {**_IDLE, **self._environment, **self.certificates.environment}
        return ServerProcess(tied(command), log, lambda: has_joined(log), environment=environment)

    def _answers(self) -> bool:
        try:
            socket.create_connection((_HOST, self.port), 0.2).close()
        except OSError:
            return False
        return True


def has_joined(log: Path) -> bool:
    """Return whether a worker has registered with its scheduler, according to its log."""
    return log.exists() and "Registered to:" in log.read_text()


@contextmanager
def running_cluster(
    folder: Path, n_workers: int = 2, environment: Mapping[str, str] | None = None
) -> Iterator[DaskCluster]:
    """Run a cluster until the block ends."""
    cluster = DaskCluster(folder, n_workers, environment)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


def processes_of(words: Sequence[str]) -> list[int]:
    """Return the processes whose command line contains all of these words."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(word in command for word in words):
            pids.append(int(entry.parent.name))
    return pids


def wait_until_gone(words: Sequence[str], seconds: float = START_SECONDS) -> list[int]:
    """Wait until no process has all of these words in its command line; return the remaining processes."""
    deadline = time.monotonic() + seconds
    while (left := processes_of(words)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
