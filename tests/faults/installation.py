"""An installation for a team: API and workers on separate hosts, and shared servers."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from core.jobs import LANES
from tests.faults.disk import Disk, LimitedProcesses, MountedDisk, mounted
from tests.faults.parts import Part
from tests.faults.store_proxy import StoreProxy
from tests.servers import BrokerServer, PostgresServer, S3Server, running_broker
from tests.servers.process import free_port

READY_SECONDS = 180.0
START_SECONDS = 900.0  # a first start compiles every kernel
POLL_SECONDS = 0.05


@dataclass
class Servers:
    """Servers that the hosts of an installation share.

    Attributes:
        folder: Folder of their data and of the folders of all hosts.
        store_proxy: Proxy in front of the object store.
    """

    folder: Path
    broker: BrokerServer
    postgres: PostgresServer
    store: S3Server
    store_proxy: StoreProxy

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator["Servers"]:
        """Run PostgreSQL, an object store and a broker until the block ends."""
        with (
            PostgresServer(folder / "postgres") as postgres,
            S3Server(folder / "store") as store,
            running_broker(folder / "broker") as broker,
            StoreProxy(store.port) as store_proxy,
        ):
            yield cls(folder, broker, postgres, store, store_proxy)


class Installation:
    """An API and workers with a supervisor.

    A test waits by `supervise`, which restarts parts that have ended, as a supervisor does.

    Args:
        folder: Folder of the hosts' data folders and logs.
        environment: Environment variables of all processes.
        broker: Broker of the wake-up messages.
        workers: Number of hosts that run a worker.

    Attributes:
        api: The API.
        workers: The workers.
        url: URL of the API.
    """

    def __init__(
        self, folder: Path, environment: Mapping[str, str], broker: BrokerServer, workers: int
    ) -> None:
        port = free_port()
        self.folder = folder
        self.broker = broker
        self.database_url = environment["RANKERY_DATABASE_URL"]
        self.url = f"http://127.0.0.1:{port}"
        self.postgres: PostgresServer | None = None
        self.store_proxy: StoreProxy | None = None
        self.disk: Disk | None = None
        shared = {"RANKERY_BROKER_URL": broker.url, **environment}
        self.api = self._part("api", ["api", "--port", str(port)], shared)
        self.workers = [
            self._part(f"worker-{number}", ["worker", "--threads", "1"], shared)
            for number in range(1, workers + 1)
        ]

    @property
    def parts(self) -> list[Part]:
        """The API and the workers."""
        return [self.api, *self.workers]

    def start(self) -> None:
        """Start all parts and wait until they are ready."""
        for part in self.parts:
            part.start()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until the API can score and every lane of every supervised worker can take a job."""
        self.wait_until(self.is_ready, READY_SECONDS, "the API is ready")
        workers = [worker for worker in self.workers if worker.is_supervised]
        self.wait_until(
            lambda: all(len(worker.ready_processes()) >= len(LANES) for worker in workers),
            START_SECONDS,
            "all workers are ready",
        )

    def stop(self) -> None:
        """End all parts."""
        for part in reversed(self.parts):
            part.stop()

    def is_ready(self) -> bool:
        """Return whether the API reports that it can score; `wait_until_ready` checks the workers."""
        try:
            return httpx.get(f"{self.url}/readyz?for=scoring", timeout=5, trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def supervise(self, seconds: float) -> None:
        """Wait for this time, and restart parts that end meanwhile."""
        deadline = time.monotonic() + seconds
        while True:
            for part in self.parts:
                part.restart_if_ended()
            remaining_seconds = deadline - time.monotonic()
            if remaining_seconds <= 0:
                return
            time.sleep(min(POLL_SECONDS, remaining_seconds))

    def wait_until(self, condition: Callable[[], bool], limit_seconds: float, description: str) -> None:
        """Wait until a condition is true, and restart parts that end meanwhile.

        Args:
            condition: Returns whether to stop waiting.
            limit_seconds: Limit of the time.
            description: The condition in words, for the error.

        Raises:
            TimeoutError: The condition was not true within the limit.
        """
        deadline = time.monotonic() + limit_seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not within {limit_seconds:g} s: {description}; logs are in {self.folder}"
                )
            self.supervise(POLL_SECONDS)

    def worker_of(self, pid: int) -> Part | None:
        """Return the worker to which a process belongs, None if it belongs to none."""
        return next((part for part in self.workers if part.runs and pid in part.descendants()), None)

    def _part(self, name: str, arguments: list[str], environment: Mapping[str, str]) -> Part:
        host, temporary = self.folder / name, self.folder / name / "tmp"
        temporary.mkdir(parents=True)
        own = {"RANKERY_DATA_DIR": str(host), "TMPDIR": str(temporary)}
        return Part(name, arguments, {**environment, **own}, self.folder / "logs")


@contextmanager
def on_servers(
    servers: Servers, name: str, *, workers: int = 2, settings: Mapping[str, str] | None = None
) -> Iterator[Installation]:
    """Run an installation on PostgreSQL, an object store and a broker, each worker on a separate host."""
    storage_url, _ = servers.store.new_bucket()
    environment = {
        "RANKERY_DATABASE_URL": servers.postgres.new_database(),
        "RANKERY_STORAGE_URL": storage_url,
        **S3Server.environment_through(servers.store_proxy.url),
        **(settings or {}),
    }
    installation = Installation(servers.folder / name, environment, servers.broker, workers)
    installation.postgres, installation.store_proxy = servers.postgres, servers.store_proxy
    with _running(installation):
        yield installation


@contextmanager
def on_one_disk(
    folder: Path, *, mount: bool = True, settings: Mapping[str, str] | None = None
) -> Iterator[Installation]:
    """Run an installation on SQLite and a folder, both on one small disk.

    Args:
        folder: Folder of all files.
        mount: Whether to mount a file system if the system permits it.
        settings: Environment variables of all processes.
    """
    disk = folder / "disk"
    disk.mkdir(parents=True)
    with ExitStack() as stack:
        is_mounted = mount and stack.enter_context(mounted(disk))
        broker = stack.enter_context(running_broker(folder / "broker"))
        environment = {
            "RANKERY_DATABASE_URL": f"sqlite:///{disk}/rankery.db",
            "RANKERY_STORAGE_URL": f"file://{disk}/artifacts",
            "RANKERY_MIN_FREE_BYTES": str(16 * 2**20),
            **(settings or {}),
        }
        installation = Installation(folder, environment, broker, workers=1)
        installation.disk = (
            MountedDisk(disk) if is_mounted else LimitedProcesses(lambda: _all_pids(installation))
        )
        stack.enter_context(_running(installation))
        yield installation


@contextmanager
def _running(installation: Installation) -> Iterator[None]:
    try:
        installation.start()
        yield
    finally:
        installation.stop()


def _all_pids(installation: Installation) -> set[int]:
    return {pid for part in installation.parts if part.runs for pid in {part.pid, *part.descendants()}}
