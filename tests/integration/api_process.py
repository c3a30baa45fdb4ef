"""API processes on one store, without workers."""

import sys
from pathlib import Path

import httpx

from tests.servers.fixtures import StoreArguments
from tests.servers.process import ServerProcess, free_port, tied

START_SECONDS = 120.0


class ApiProcess:
    """An API process, without workers and a broker.

    Args:
        store_arguments: The store.
        folder: Folder of its log.
        environment: Additional environment variables.

    Attributes:
        url: Its URL, the same after each start.
    """

    def __init__(self, store_arguments: StoreArguments, folder: Path, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        variables = {f"RANKERY_{name}".upper(): str(value) for name, value in store_arguments.items()}
        variables |= {"RANKERY_BROKER_URL": "redis://127.0.0.1:1/0", **environment}
        options = ["--port", str(self.port), "--data-dir", str(store_arguments["data_dir"])]
        command = tied([sys.executable, "-m", "rankery", "api", *options])
        log = folder / f"api-{self.port}.log"
        self._process = ServerProcess(
            command, log, self._answers, environment=variables, start_seconds=START_SECONDS
        )
        self.start, self.kill = self._process.start, self._process.kill

    @property
    def pid(self) -> int:
        """Process id of the API."""
        assert self._process.pid is not None
        return self._process.pid

    def memory_bytes(self) -> int:
        """Return its resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        (kibibytes,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(kibibytes) * 1024

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False
