"""The migrations create the schema of the mapped rows."""

import fcntl
import multiprocessing
import re
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from core.errors import StoreUnavailable
from core.store import Store, StoreSettings
from core.store.engines import for_reading, for_writing, open_engine
from core.store.schema import migrations_config, newest_revision, upgrade
from core.store.tables import Base


def _migrate_and_write(settings: StoreSettings, barrier: Barrier) -> None:
    barrier.wait()
    store = Store.open(settings)
    store.migrate()
    with store.begin() as tx:
        tx.jobs.add("train", {})
    store.close()


@pytest.mark.both_stores
def test_migrated_schema_is_the_mapped_one(unmigrated_settings: StoreSettings) -> None:
    """After all migrations, nothing differs between the database and the tables as mapped."""
    engine = open_engine(unmigrated_settings.database_url)
    upgrade(engine)
    with for_reading(engine).connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


@pytest.mark.both_stores
def test_migrating_again_changes_nothing(store: Store) -> None:
    """A migrated database keeps its rows when migrated again."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {})
    store.migrate()
    with store.read() as tx:
        assert tx.jobs.get(job.id).status == "queued"


@pytest.mark.both_stores
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_two_processes_may_migrate_at_the_same_time(unmigrated_settings: StoreSettings) -> None:
    """Two processes that migrate a new database at the same time both find it ready."""
    context = multiprocessing.get_context("fork")  # imports take longer than migrations
    arguments = unmigrated_settings, context.Barrier(2)
    processes = [context.Process(target=_migrate_and_write, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    store = Store.open(unmigrated_settings)
    with store.read() as tx:
        assert len(tx.jobs.page(None, 10).items) == 2
    store.close()


@pytest.mark.embedded
def test_migrations_wait_for_each_other(store: Store, settings: StoreSettings) -> None:
    """While one process migrates a SQLite database, another waits at the lock file."""
    store.migrate()
    waiting = threading.Thread(target=store.migrate)
    with (settings.data_dir / "rankery.db.migrating").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join(30)
    assert not waiting.is_alive()


@pytest.mark.both_stores
def test_a_failed_migration_changes_nothing(unmigrated_settings: StoreSettings) -> None:
    """All migrations run in one transaction, so that a failure undoes them all."""
    engine = open_engine(unmigrated_settings.database_url)
    with for_writing(engine).begin() as other:
        # The migration fails at this table, near its end.
        other.exec_driver_sql("CREATE TABLE rankings (id TEXT)")
    with pytest.raises(DBAPIError, match="rankings"):
        upgrade(engine)
    with for_reading(engine).connect() as connection:
        assert inspect(connection).get_table_names() == ["rankings"]
    engine.dispose()


@pytest.mark.both_stores
def test_a_database_of_a_later_release_is_refused(store: Store) -> None:
    """After a return to an earlier release, the message names the two ways out."""
    with for_writing(store._engine).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match=r"schema is 9999, .*start the later release, or restore"):
        store.migrate()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """On a read-only file system, a command ends with a sentence; so does a folder in place of the lock."""
    lock = tmp_path / "rankery.db.migrating"
    lock.mkdir()
    store = Store.open(StoreSettings(data_dir=tmp_path))
    with pytest.raises(StoreUnavailable, match=f"the data folder cannot be used: .*{re.escape(str(lock))}"):
        store.migrate()
    store.close()


def test_the_migrations_have_one_head() -> None:
    """The migrations form one line, whose end is known without Alembic by the names of the files."""
    assert ScriptDirectory.from_config(migrations_config()).get_heads() == [newest_revision()]
