"""Let one writer of a process at a time ask SQLite for its lock.

SQLite's own waiters look again every tenth of a second, and those of one process that find the lock free go
on together: forty threads of Python, which take the interpreter from an event loop for as long.
"""

import contextlib
import threading
import time
from collections.abc import Iterator

from sqlalchemy import Engine

from core.errors import StoreUnavailable
from core.store import engines

# Before a writer that had to queue: about twice as long as a write of Python takes, in which others run.
PAUSE_SECONDS = 0.02


class WriteTurn:
    """The turn to write to SQLite; PostgreSQL's writers need not wait for each other.

    Args:
        engine: Of the database.
        lock_seconds: How long a writer waits, for its turn and for the lock together.
    """

    def __init__(self, engine: Engine, lock_seconds: float) -> None:
        self._engine = engine
        self._lock_seconds = lock_seconds
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else None

    @contextlib.contextmanager
    def taken(self) -> Iterator[Engine]:
        """Wait for the turn and keep it during the block; yields the engine to write with.

        Raises:
            StoreUnavailable: It took too long.
        """
        if self._turn is None:
            yield engines.for_writing(self._engine)
            return
        until = time.monotonic() + self._lock_seconds
        queued = not self._turn.acquire(blocking=False)
        if queued and not self._turn.acquire(timeout=self._lock_seconds):
            raise StoreUnavailable(f"the database {engines.IS_LOCKED}")
        try:
            if queued:
                time.sleep(PAUSE_SECONDS)
            yield engines.for_writing(self._engine, max(until - time.monotonic(), 0.0))
        finally:
            self._turn.release()
