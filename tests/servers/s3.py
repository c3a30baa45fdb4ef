"""An S3 object store for tests."""

import itertools
import sys
from pathlib import Path
from types import TracebackType

import httpx

from tests.servers.process import ServerProcess, free_port, tied


class S3Server:
    """A server on a free port. Its objects are lost when it stops; `process.pause` keeps them.

    Usable as a context manager. The thread that starts it must outlive it.

    Args:
        folder: Folder of its log; created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.endpoint_url = f"http://127.0.0.1:{self.port}"
        self._numbers = itertools.count(1)
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "moto.server",
            "-H",
            "127.0.0.1",
            "-p",
            str(self.port),
        ]
        self.process = ServerProcess(tied(command), folder / "log", self._answers)

    def __enter__(self) -> "S3Server":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def options(self) -> dict[str, str]:
        """The options with which fsspec connects to this server."""
        return {"key": "rankery", "secret": "x", "endpoint_url": self.endpoint_url}

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which AWS libraries connect to this server."""
        return self.environment_through(self.endpoint_url)

    @staticmethod
    def environment_through(endpoint_url: str) -> dict[str, str]:
        """Return the variables to connect through another address, such as that of a `TcpProxy`."""
        return {
            "AWS_ENDPOINT_URL": endpoint_url,
            "AWS_ACCESS_KEY_ID": "rankery",
            "AWS_SECRET_ACCESS_KEY": "not-checked",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.process.start()

    def stop(self) -> None:
        """Stop the server; its objects are lost."""
        self.process.kill()

    def new_bucket(self) -> tuple[str, dict[str, str]]:
        """Create a bucket; return the storage URL of a folder in it and the variables to connect."""
        name = f"rankery-{next(self._numbers)}"
        httpx.put(f"{self.endpoint_url}/{name}").raise_for_status()
        return f"s3://{name}/artifacts", self.environment

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.endpoint_url}/moto-api/", timeout=2).status_code == 200
        except httpx.TransportError:
            return False
