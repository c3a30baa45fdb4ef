"""The database: transactions, revisions of cached data, and checks of its health."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from core.errors import StoreFull, StoreUnavailable
from core.store import engines, schema
from core.store.engines import has_current_file
from core.store.faults import failure_reason
from core.store.forking import ForkGuard
from core.store.sqlite_write_lock import SqliteWriteLock
from core.store.tables import Worker
from core.store.transaction import Transaction
from core.store.visibility import select_visible

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


class Database:
    """Read and write transactions of one database.

    Safe to share between threads. A process may fork with an open store: a fork closes the connections, and
    the child opens its own. A thread must not fork inside its own transaction.

    Args:
        lock_seconds: How long a write waits for a lock that another transaction holds.
    """

    def __init__(self, engine: Engine, lock_seconds: float) -> None:
        self._engine = engine
        self._write_lock = SqliteWriteLock(engine, lock_seconds)
        self._read_engine = engines.for_reading(engine)
        self._probe_engine = engines.for_writing(engine, engines.PROBE_LOCK_SECONDS)
        self._revisions = Revisions(engine)
        self._guard = ForkGuard(self.disconnect)

    def migrate(self) -> None:
        """Migrate the database; safe for concurrent processes.

        Raises:
            StoreUnavailable: The database cannot be reached, or a later release has migrated it.
        """
        with _reporting_errors(), self._guard.delaying_forks():
            schema.upgrade(self._engine)

    def close(self) -> None:
        """Close the connections; connections in use close when their transactions end."""
        engines.end_pooling(self._engine)
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections that are not in use; the next transaction opens a new connection."""
        self._revisions.close()
        self._engine.dispose()

    @contextlib.contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a read-write transaction, committed on success and rolled back on an exception.

        On SQLite one read-write transaction runs at a time; others wait for up to `lock_seconds`. Row objects
        stay usable after the block.

        Raises:
            StoreUnavailable: The database cannot be reached or is busy for too long.
        """
        with (
            self._guard.delaying_forks(),
            self._write_lock.acquire() as engine,
            self._session(engine) as session,
        ):
            tx = Transaction(session)
            yield tx
            tx.finish()

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a read-only snapshot transaction.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with self._guard.delaying_forks(), self._session(self._read_engine) as session:
            yield Transaction(session)

    @contextlib.contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a read-only snapshot for statements on tables, at a fifth of the cost of `read`.

        The statements select rows of every project, including rows in the trash.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with _reporting_errors(), self._guard.delaying_forks(), self._read_engine.connect() as connection:
            yield connection

    @property
    def revision_never_blocks(self) -> bool:
        """Whether `revision` never blocks, so that an event loop may call it."""
        return self._engine.dialect.name == "sqlite"

    def revision(self) -> str:
        """Return the revision of the database, which changes with every commit.

        Reading it costs far less than any query. Compare only revisions from the same `Database` object.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with _reporting_errors(), self._guard.delaying_forks():
            return self._revisions.latest()

    def read_fault(self) -> str | None:
        """Check that the database can be read; return its fault without addresses, or None."""
        try:
            with self._guard.delaying_forks(), self._probe_engine.connect() as connection:
                connection.execute(select(Worker.name).limit(1))
        except (DBAPIError, PoolTimeout) as error:
            return failure_reason(error)
        return None

    def fault(self) -> str | None:
        """Check that the database accepts writes; return its fault without addresses, or None."""
        try:
            with self._guard.delaying_forks(), self._probe_engine.connect() as connection:
                engines.take_write_lock(connection)
        except (DBAPIError, PoolTimeout) as error:
            if isinstance(error, DBAPIError) and engines.is_locked(error):
                return (
                    "accepts no writes: another transaction has held its lock for"
                    f" {engines.PROBE_LOCK_SECONDS} s"
                )
            return failure_reason(error)
        return None

    @contextlib.contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        session = Session(engine, expire_on_commit=False)
        select_visible(session)
        with _reporting_errors(), session, session.begin():
            yield session


@contextlib.contextmanager
def _reporting_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:  # raised by statements outside SQLAlchemy
        raise StoreUnavailable(f"the database failed: {error}") from error
    except DBAPIError as error:
        if not engines.is_outage(error):
            raise
        kind = StoreFull if engines.is_full(error) else StoreUnavailable
        raise kind(f"the database {engines.public_reason(error)}") from error
    except PoolTimeout as error:
        raise StoreUnavailable("the database has too many connections from this process") from error
