"""A service shared by the tests of commands and of the client, and an API without a worker."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn

from app import ApiSettings, create_app
from rankery.embedded.stack import EmbeddedStack
from tests.app.conftest import NO_BROKER
from tests.rankery.unreliable import Fault, Unreliable

_LIMIT_SECONDS = 30.0


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """A service that logs scores and impressions, and may send webhooks to this machine.

    Test files share it: each has datasets, models and tags under names that the others do not use.
    """
    environment = {"RANKERY_SCORE_LOG_SHARE": "1", "RANKERY_OUTBOUND_ALLOWED": "127.0.0.1"}
    environment |= {"RANKERY_RANKING_LOG_SHARE": "1"}
    with EmbeddedStack(tmp_path_factory.mktemp("rankery-data"), environment=environment) as stack:
        yield stack


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The URL of a service that accepts jobs and runs none."""
    with serving(tmp_path_factory.mktemp("served")) as url:
        yield url


@contextmanager
def serving(data_dir: Path) -> Iterator[tuple[str, int]]:
    """Serve the API of a data folder from a thread, without a broker and a worker."""
    settings = ApiSettings(data_dir=data_dir, broker_url=NO_BROKER)
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + _LIMIT_SECONDS
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield host, port
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def unreliable(served: tuple[str, int]) -> Iterator[Callable[[Sequence[Fault]], Unreliable]]:
    """Function that puts a network with scripted faults in front of the service."""
    with ExitStack() as stack:
        yield lambda faults: stack.enter_context(Unreliable(served, faults))
