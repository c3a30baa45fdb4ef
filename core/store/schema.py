"""Migrate the database to the current schema.

Alembic is imported only where migrations are pending, since its import delays the start.
"""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from core.errors import StoreUnavailable
from core.store.engines import LOCK_SECONDS, for_writing, sqlite_path

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"

_POSTGRESQL_LOCK = 0x52414E4B  # key of the advisory lock: "RANK" in ASCII


def upgrade(engine: Engine) -> None:
    """Apply pending migrations under a lock.

    Raises:
        StoreUnavailable: A later release has migrated the database, or its folder cannot be written.
    """
    with _sqlite_migration_lock(engine):
        if engine.dialect.name == "sqlite":
            sqlite_path(engine).touch()
            _use_wal(engine)
        with for_writing(engine).begin() as connection:
            if engine.dialect.name == "postgresql":
                _wait_on_postgresql(connection)
            revision, newest = _revision(connection), newest_revision()
            if revision == newest:
                return
            if revision is not None and revision > newest:
                raise StoreUnavailable(
                    f"a later release has migrated the database: its schema is {revision}, this release has"
                    f" {newest}; start the later release, or restore a backup from before its first start"
                )
            from alembic import command

            config = migrations_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def newest_revision() -> str:
    """Return the revision of the current schema, the number in the name of the last migration's file."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def _revision(connection: Connection) -> str | None:
    """Return the revision of a database, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def migrations_config() -> "Config":
    """Return the Alembic configuration."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextlib.contextmanager
def _sqlite_migration_lock(engine: Engine) -> Iterator[None]:
    if engine.dialect.name != "sqlite":
        yield
        return
    path = sqlite_path(engine)
    try:
        file = path.with_name(f"{path.name}.migrating").open("w")
    except OSError as error:
        raise StoreUnavailable(f"the data folder cannot be used: {error}") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _wait_on_postgresql(connection: Connection) -> None:
    """Wait without limit for a concurrent migration, but only briefly for other locks."""
    for name in ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout"):
        connection.execute(text(f"SET LOCAL {name} = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRESQL_LOCK})
    # While a migration waits for the lock of a table, all later statements on this table wait as well.
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))


def _use_wal(engine: Engine) -> None:
    # The mode is stored in the file. It can be changed only without other connections, so the caller holds
    # the migration lock.
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
