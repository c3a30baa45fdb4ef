"""Serialize the writers of one process before they request SQLite's lock.

Threads that wait for SQLite's own lock poll it every tenth of a second. All threads that find it free then
continue together: forty such threads block the event loop for about a tenth of a second.
"""

import contextlib
import threading
import time
from collections.abc import Iterator

from sqlalchemy import Engine

from core.errors import StoreUnavailable
from core.store import engines

# Pause before a queued writer continues, about twice the time of a write, so that other threads run.
PAUSE_SECONDS = 0.02


class SqliteWriteLock:
    """A lock of the process around writes to SQLite; writers of PostgreSQL do not wait.

    Args:
        lock_seconds: Longest wait of a writer, for this lock and that of SQLite together.
    """

    def __init__(self, engine: Engine, lock_seconds: float) -> None:
        self._engine = engine
        self._lock_seconds = lock_seconds
        self._lock = threading.Lock() if engine.dialect.name == "sqlite" else None

    @contextlib.contextmanager
    def acquire(self) -> Iterator[Engine]:
        """Hold the lock during the block, which gets the engine to write with.

        Raises:
            StoreUnavailable: The lock was not free within `lock_seconds`.
        """
        if self._lock is None:
            yield engines.for_writing(self._engine)
            return
        deadline = time.monotonic() + self._lock_seconds
        queued = not self._lock.acquire(blocking=False)
        if queued and not self._lock.acquire(timeout=self._lock_seconds):
            raise StoreUnavailable(f"the database {engines.IS_LOCKED}")
        try:
            if queued:
                time.sleep(PAUSE_SECONDS)
            yield engines.for_writing(self._engine, max(deadline - time.monotonic(), 0.0))
        finally:
            self._lock.release()
