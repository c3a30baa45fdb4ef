"""Database engines, their transaction modes and locks."""

import functools
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Dialect, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import LRUCache

from core.errors import ExtraMissing, StoreUnavailable
from core.store.faults import failure_reason
from core.store.tables.base import serialize_json

LOCK_SECONDS = 30  # longest wait for the lock of another write transaction, outside requests
PROBE_LOCK_SECONDS = 1
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 60
IDLE_SECONDS = 30
POOL_SIZE = 5
MAX_OVERFLOW = 59  # more than the 40 request threads, so that no thread waits for a connection

_POSTGRESQL: Mapping[str, Any] = MappingProxyType(
    {
        "connect_timeout": CONNECT_SECONDS,
        # Detect a lost connection after about 15 s instead of the kernel's two hours.
        "keepalives_idle": 5,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,  # milliseconds
        # No prepared statements: a connection pooler may run the next transaction in another session, which
        # lacks them, and a migration may invalidate them.
        "prepare_threshold": None,
    }
)
# LRU cache of compiled statements, shared by all SQLite engines of this process.
_STATEMENT_CACHE: LRUCache[Any, Any] = LRUCache(1_000)
_WRITES = "rankery_writes"
_WAIT_SECONDS = "rankery_wait_seconds"
IS_LOCKED = "is locked: a transaction has waited too long for another transaction; try again"
_ROWS_AT_BEGIN = "rankery_rows_at_begin"
_FILE = "rankery_file"
_HAS_WRITTEN = text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03")  # 55P03 is PostgreSQL's lock_not_available
_OUTAGES = (OperationalError, InterfaceError, InternalError)
_FULL = ("SQLITE_FULL", "53100")  # 53100 is PostgreSQL's disk_full


def open_engine(database_url: str, lock_seconds: int = LOCK_SECONDS) -> Engine:
    """Prepare the engine of a database; connects on first use.

    Args:
        database_url: URL of SQLite or PostgreSQL.
        lock_seconds: How long a write waits for a lock that another transaction holds.

    Raises:
        StoreUnavailable: The URL cannot be parsed or its database is not supported.
        ExtraMissing: The package for PostgreSQL is not installed.
    """
    try:
        url = make_url(database_url)
    except ArgumentError as error:
        raise StoreUnavailable("the database URL is invalid") from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite":
        return _open_sqlite(url, lock_seconds)
    if url.get_backend_name() == "postgresql":
        try:
            return _open_postgresql(url, lock_seconds)
        except ImportError as error:
            raise ExtraMissing("a PostgreSQL database", "postgresql") from error
    raise StoreUnavailable(f"the database is {url.drivername}; sqlite and postgresql are supported")


def is_outage(error: DBAPIError) -> bool:
    """Return whether the database failed, rather than a statement that it executed."""
    # The driver of SQLite raises the base class for a damaged file.
    return isinstance(error, _OUTAGES) or type(error) is DatabaseError


def is_full(error: DBAPIError) -> bool:
    """Return whether the database failed because the disk is full."""
    return _code(error) in _FULL


def is_locked(error: DBAPIError) -> bool:
    """Return whether a transaction timed out waiting for a lock."""
    return _code(error).startswith(_LOCKED)


def public_reason(error: DBAPIError) -> str:
    """Return a public description of a database error, without addresses and users."""
    if is_locked(error):
        return IS_LOCKED
    if isinstance(error.orig, sqlite3.Error):
        return f"failed: {error.orig}"
    return f"{failure_reason(error)} ({type(error.orig).__name__})"


def sqlite_path(engine: Engine) -> Path:
    """Return the file of a SQLite database."""
    return Path(str(engine.url.database))


def for_writing(engine: Engine, wait_seconds: float | None = None) -> Engine:
    """Return the same engine with transactions that may write.

    Args:
        wait_seconds: How long SQLite waits for its write lock; None for the `lock_seconds` of the engine.
    """
    options = {} if wait_seconds is None else {_WAIT_SECONDS: wait_seconds}
    return engine.execution_options(**{_WRITES: True}, **options)


def for_reading(engine: Engine) -> Engine:
    """Return the same engine with read-only snapshot transactions."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine.execution_options(**{_WRITES: False})


def end_pooling(engine: Engine) -> None:
    """Close each connection when it is returned to the pool, from now on.

    `Engine.dispose` leaves connections in use to the garbage collector.
    """

    def close(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.invalidate()

    event.listen(engine, "checkin", close)


def has_written(connection: Connection) -> bool:
    """Return whether the transaction of a connection has changed rows, or locked some on PostgreSQL."""
    if connection.dialect.name == "postgresql":
        return bool(connection.scalar(_HAS_WRITTEN))
    return bool(_rows_changed(connection) > connection.info[_ROWS_AT_BEGIN])


def has_current_file(info: Mapping[str, Any], engine: Engine) -> bool:
    """Return whether the file of a connection to SQLite still is that of the database.

    A deleted file would accept commits that nothing reads again.

    Args:
        info: `info` of the connection.
    """
    return bool(info[_FILE] == _file_id(sqlite_path(engine)))


def take_write_lock(connection: Connection) -> None:
    """Take the write lock that job updates take."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{PROBE_LOCK_SECONDS}s'")
        connection.exec_driver_sql("LOCK TABLE jobs IN ROW EXCLUSIVE MODE")
    else:
        # The first statement begins the transaction with BEGIN IMMEDIATE, which takes the lock.
        connection.exec_driver_sql("SELECT 1")


def advisory_lock(session: Session, kind: int, name: str) -> None:
    """Take an advisory lock until the transaction ends.

    Later reads of the transaction see the changes of earlier holders. The function does nothing on SQLite,
    which runs one writing transaction at a time.

    Args:
        kind: Namespace of the names, a number of 31 bits.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(kind, func.hashtext(name))))


def _code(error: DBAPIError) -> str:
    """Return the name of a SQLite error, or the SQLSTATE of a PostgreSQL error."""
    return getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or ""


def _open_postgresql(url: URL, lock_seconds: int) -> Engine:
    engine = create_engine(
        url,
        json_serializer=serialize_json,
        pool_size=POOL_SIZE,
        max_overflow=MAX_OVERFLOW,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        connect_args={name: value for name, value in _POSTGRESQL.items() if name not in url.query},
    )

    def prepare(connection: Any, _record: Any) -> None:
        # A process that hangs inside a transaction must not lock its rows for ever.
        connection.execute(
            f"SET lock_timeout = '{lock_seconds}s'; SET statement_timeout = '{STATEMENT_SECONDS}s';"
            f" SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
        )
        connection.commit()

    event.listen(engine, "connect", prepare)
    return engine


def _open_sqlite(url: URL, lock_seconds: int) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise StoreUnavailable("the SQLite URL names no file")
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url,
        json_serializer=serialize_json,
        pool_size=POOL_SIZE,
        max_overflow=MAX_OVERFLOW,
        connect_args={"timeout": lock_seconds},
        execution_options={"compiled_cache": _STATEMENT_CACHE},
    )
    event.listen(engine, "do_connect", _connect_existing)
    engine.dialect = _sqlite_dialect()

    def remember_file(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info[_FILE] = _file_id(sqlite_path(engine))

    def reconnect_to_new_file(_connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        if not has_current_file(record.info, engine):
            raise DisconnectionError("the file of the database was deleted or replaced")

    def begin(connection: Connection) -> None:
        _begin_sqlite(connection, lock_seconds)

    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "connect", remember_file)
    event.listen(engine, "checkout", reconnect_to_new_file)
    event.listen(engine, "begin", begin)
    return engine


@functools.cache
def _sqlite_dialect() -> Dialect:
    """Return the dialect of all SQLite engines of this process: compiled statements are cached by dialect."""
    engine = create_engine("sqlite://", json_serializer=serialize_json)
    engine.connect().close()  # the dialect detects the version of the library
    engine.dispose()
    return engine.dialect


def _connect_existing(_dialect: Dialect, _record: Any, arguments: list[Any], options: dict[str, Any]) -> None:
    """Do not let SQLite create the file of a database that was deleted; `schema.upgrade` creates it."""
    path = str(arguments[0])
    if not path.startswith("file:"):
        arguments[0] = f"file:{quote(path)}?mode=rw"
        options["uri"] = True


def _file_id(path: Path) -> tuple[int, int] | None:
    """Return the device and the inode of a file, or None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver would begin transactions late and only before some statements; `_begin_sqlite` begins them.
    connection.isolation_level = None
    # The function of SQLite changes only the letters of ASCII.
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _begin_sqlite(connection: Connection, lock_seconds: int) -> None:
    options = connection.get_execution_options()
    writes = options.get(_WRITES, False)
    wait_seconds = options.get(_WAIT_SECONDS, lock_seconds)
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(wait_seconds * 1000)}")
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    # Writers wait here for the lock; a transaction that began as a reader could fail at its first write.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    connection.info[_ROWS_AT_BEGIN] = _rows_changed(connection)


def _rows_changed(connection: Connection) -> int:
    """Return the number of rows that a connection to SQLite has changed since it was opened."""
    driver: Any = connection.connection.driver_connection
    return int(driver.total_changes)
