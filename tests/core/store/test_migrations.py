"""The migrations lead to the schema that the rows are mapped to."""

import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError

import core
from core.store import Store, StoreSettings
from core.store.engines import for_reading, for_writing, open_engine
from core.store.schema import migrations_config, upgrade
from core.store.tables import Base

MIGRATE = """
import pathlib, sys
from core.store import Store, StoreSettings
print("ready", flush=True)
sys.stdin.readline()
store = Store.open(StoreSettings(data_dir=pathlib.Path(sys.argv[1])))
store.migrate()
with store.begin() as tx:
    tx.jobs.add("train", {})
"""


def test_migrated_schema_is_the_mapped_one(settings: StoreSettings) -> None:
    """After all migrations, nothing differs between the database and the tables as mapped."""
    engine = open_engine(settings.database_url)
    upgrade(engine)
    with for_reading(engine).connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_migrating_again_changes_nothing(store: Store) -> None:
    """A migrated database keeps its rows when migrated again."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {})
    store.migrate()
    with store.read() as tx:
        assert tx.jobs.get(job.id).status == "queued"


def test_processes_that_start_together(tmp_path: Path) -> None:
    """Three processes that migrate a new database at once all find it ready."""
    environment = os.environ | {"PYTHONPATH": str(Path(core.__file__).parents[1])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, str(tmp_path / "data")],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.communicate("go\n")
    assert [process.returncode for process in processes] == [0, 0, 0]
    store = Store.open(StoreSettings(data_dir=tmp_path / "data"))
    with store.read() as tx:
        assert len(tx.jobs.page(None, 10).items) == 3
    store.close()


def test_migrations_wait_for_each_other(store: Store, settings: StoreSettings) -> None:
    """While one process migrates a SQLite database, another waits at the lock file."""
    waiting = threading.Thread(target=store.migrate)
    with (settings.data_dir / "rankery.db.migrating").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join(30)
    assert not waiting.is_alive()


def test_a_failed_migration_leaves_nothing(settings: StoreSettings) -> None:
    """Migrations run in one transaction: a database is as before or wholly migrated."""
    engine = open_engine(settings.database_url)
    database = Path(str(engine.url.database))
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE rankings (id TEXT)")  # the migration stumbles over it near its end
    other.close()
    with pytest.raises(OperationalError, match="rankings"):
        upgrade(engine)
    with for_reading(engine).connect() as connection:
        assert inspect(connection).get_table_names() == ["rankings"]
    engine.dispose()


def test_one_head() -> None:
    """The migrations form one line."""
    assert len(ScriptDirectory.from_config(migrations_config()).get_heads()) == 1


def test_downgrade(settings: StoreSettings) -> None:
    """The migrations can be undone to an empty database."""
    engine = open_engine(settings.database_url)
    upgrade(engine)
    with for_writing(engine).begin() as connection:
        config = migrations_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_datasets_from_before_contents_were_shared(settings: StoreSettings) -> None:
    """A dataset that was ready keeps its Parquet where it is, and survives the way back."""
    engine = open_engine(settings.database_url)
    config = migrations_config()
    with for_writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for dataset_id, status in (("ds_1", "ready"), ("ds_2", "pending")):
            connection.exec_driver_sql(
                "INSERT INTO datasets (id, name, status, source, created_at, updated_at)"
                f" VALUES ('{dataset_id}', 'web', '{status}', '{{}}', '2026-01-01', '2026-01-01')"
            )
        command.upgrade(config, "0002")
        rows = connection.exec_driver_sql("SELECT id, data_key, digest, findings FROM datasets ORDER BY id")
        assert rows.fetchall() == [
            ("ds_1", "datasets/ds_1/data.parquet", None, None),
            ("ds_2", None, None, None),
        ]
        command.downgrade(config, "0001")
        assert connection.exec_driver_sql("SELECT count(*) FROM datasets").scalar() == 2
    engine.dispose()


def test_results_from_before_systems_were_named_get_the_name_of_their_model(settings: StoreSettings) -> None:
    """What stood in the tables stays, and can be shown."""
    engine = open_engine(settings.database_url)
    with for_writing(engine).begin() as connection:
        config = migrations_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        moment = "2026-01-05 10:00:00"
        connection.execute(
            text(
                "INSERT INTO jobs (id, kind, status, spec, attempt, token, cancel_requested, created_at)"
                f" VALUES ('job_1', 'train', 'succeeded', '{{}}', 1, 1, 0, '{moment}')"
            )
        )
        connection.execute(
            text(
                "INSERT INTO models (id, name, version, job_id, dataset_id, feature_names, loss,"
                " hyperparameters, best_iteration, sha256, size_bytes, created_at)"
                f" VALUES ('mdl_1', 'web', 3, 'job_1', 'ds_1', '[]', '{{}}', '{{}}', 1, 'x', 1, '{moment}')"
            )
        )
        for table, columns, values in (
            ("evaluations", "summaries", "'{}'"),
            ("rankings", "queries, documents", "1, 2"),
        ):
            connection.execute(
                text(
                    f"INSERT INTO {table} (id, job_id, model_id, dataset_id, {columns}, created_at)"
                    f" VALUES ('one', 'job_1', 'mdl_1', 'ds_1', {values}, '{moment}')"
                )
            )
        command.upgrade(config, "head")
    engine.dispose()
    store = Store.open(settings)
    with store.read() as tx:
        assert (tx.evaluations.get("one").system, tx.evaluations.get("one").baselines) == ("web:3", None)
        assert tx.rankings.get("one").system == "web:3"
    store.close()
