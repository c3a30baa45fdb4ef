"""The application behind a real server."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn

from app import ApiSettings, create_app
from app.http.connections import server_options

PATIENCE_SECONDS = 20.0


@pytest.fixture
def server(settings: ApiSettings) -> Iterator[uvicorn.Server]:
    """The application behind uvicorn, as the service runs it."""
    config = uvicorn.Config(
        create_app(settings), port=0, log_config=None, access_log=False, **server_options(settings)
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    eventually(lambda: server.started)
    yield server
    server.should_exit = True
    thread.join()


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after `PATIENCE_SECONDS`."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
