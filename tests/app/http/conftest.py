"""The application behind a real server."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from sqlalchemy import text

from app import ApiSettings, create_app
from app.http.connections import server_options
from core.store import Store

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


def waits_for_a_lock(store: Store) -> bool:
    """Return whether a transaction of the test's PostgreSQL database waits for a lock."""
    own = "datname = current_database() AND wait_event_type = 'Lock'"
    with store._engine.connect() as connection:
        return bool(connection.scalar(text(f"SELECT count(*) FROM pg_stat_activity WHERE {own}")))
