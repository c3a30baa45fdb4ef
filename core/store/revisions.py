"""Detect database changes without reading data."""

import sqlite3
import threading
from itertools import count
from typing import Any

from sqlalchemy import Engine, text

from core.store.engines import has_current_file

# The snapshot of visible transactions, and the start time of the server.
_SNAPSHOT = text("SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text")


class Revisions:
    """Revision of a database, which changes with every commit.

    The revision may also change without a commit. Compare only revisions of the same object. Thread-safe.

    Args:
        engine: Engine of the database. On SQLite one connection is kept, which must be closed before a fork.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._lock = threading.Lock()
        self._connection_numbers = count()
        self._connection_number = 0
        self._connection: Any = None

    def latest(self) -> str:
        """Return the current revision."""
        if self._engine.dialect.name == "postgresql":
            with self._engine.connect() as connection:
                return " ".join(connection.execute(_SNAPSHOT).one())
        try:
            return self._latest_of_sqlite()
        except sqlite3.Error:
            self.close()
            raise

    def close(self) -> None:
        """Close the kept connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _latest_of_sqlite(self) -> str:
        with self._lock:
            if self._connection is not None and not has_current_file(self._connection.info, self._engine):
                self._connection.close()
                self._connection = None
            if self._connection is None:
                # Outside SQLAlchemy's transactions, since SQLite would read a snapshot inside one.
                self._connection = self._engine.raw_connection()
                self._connection_number = next(self._connection_numbers)
            # Number of commits of other connections.
            (version,) = self._connection.cursor().execute("PRAGMA data_version").fetchone()
            return f"{self._connection_number} {version}"
