"""The application behind a real server, without a worker."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest
import uvicorn

from app import ApiSettings, create_app
from tests.app.conftest import NO_BROKER
from tests.rankery.unreliable import Fault, Unreliable

_LIMIT_SECONDS = 30.0


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Where a service listens that takes jobs and carries none out."""
    settings = ApiSettings(data_dir=tmp_path_factory.mktemp("served"), broker_url=NO_BROKER)
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + _LIMIT_SECONDS
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    yield host, port
    server.should_exit = True
    thread.join()


@pytest.fixture
def unreliable(served: tuple[str, int]) -> Iterator[Callable[[Sequence[Fault]], Unreliable]]:
    """Put a network in front of the service that fails as it is told to."""
    with ExitStack() as stack:
        yield lambda faults: stack.enter_context(Unreliable(served, faults))
