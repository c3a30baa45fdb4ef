"""Connections to the database, with the transactions Rankery relies on."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from core.errors import StoreUnavailable
from core.store.columns import to_json

BUSY_SECONDS = 30
CONNECT_SECONDS = 5
POOL_SIZE = 5
MAX_OVERFLOW = 59  # above the 40 threads that serve requests: a thread waits for the database, not the pool

_WRITES = "rankery_writes"


def open_engine(database_url: str) -> Engine:
    """Prepare the engine of a database; connects on first use.

    Raises:
        StoreUnavailable: The URL cannot be understood or names an unsupported database.
    """
    try:
        url = make_url(database_url)
    except ArgumentError as error:
        raise StoreUnavailable("the database URL cannot be understood") from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite":
        return _open_sqlite(url)
    if url.get_backend_name() == "postgresql":
        return _open_postgresql(url)
    raise StoreUnavailable(f"the database is {url.drivername}; sqlite and postgresql are supported")


def sqlite_path(engine: Engine) -> Path:
    """Return the file of a SQLite database."""
    return Path(str(engine.url.database))


def for_writing(engine: Engine) -> Engine:
    """Return the same engine with transactions that may write."""
    return engine.execution_options(**{_WRITES: True})


def for_reading(engine: Engine) -> Engine:
    """Return the same engine with transactions that see one moment and refuse to write."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine.execution_options(**{_WRITES: False})


def _open_postgresql(url: URL) -> Engine:
    return create_engine(
        url,
        json_serializer=to_json,
        pool_size=POOL_SIZE,
        max_overflow=MAX_OVERFLOW,
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT_SECONDS},
    )


def _open_sqlite(url: URL) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise StoreUnavailable("the SQLite URL names no file")
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url,
        json_serializer=to_json,
        pool_size=POOL_SIZE,
        max_overflow=MAX_OVERFLOW,
        connect_args={"timeout": BUSY_SECONDS},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver begins transactions late and only before some statements; `_begin_sqlite` does it instead.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    # A writer queues here; one that began as a reader could only fail when it came to write.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
