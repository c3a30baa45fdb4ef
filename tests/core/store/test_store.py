"""Transactions between threads, processes and forks."""

import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import literal, select
from sqlalchemy.exc import IntegrityError

from core.errors import StoreUnavailable
from core.jobs import System
from core.store import Store, StoreSettings, Transaction, forking
from core.store.engines import open_engine, sqlite_path
from core.store.forking import ForkGuard


def _add_job_and_fail(tx: Transaction) -> None:
    tx.jobs.add("train", {})
    raise ZeroDivisionError


@pytest.mark.both_stores
def test_a_transaction_that_raises_changes_nothing(store: Store) -> None:
    """The rows that the block added are rolled back."""
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        _add_job_and_fail(tx)
    with store.read() as tx:
        assert tx.jobs.page(None, 1).items == []


@pytest.mark.both_stores
def test_rows_outlive_the_block(store: Store) -> None:
    """A row read or made in a block can be used after it."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {"seed": 1})
    assert job.spec == {"seed": 1}
    assert job.created_at.tzinfo is not None


@pytest.mark.both_stores
def test_reading_refuses_to_write(store: Store) -> None:
    """A write in a reading block fails instead of being lost, and writing works afterwards."""
    with pytest.raises(StoreUnavailable, match=r"(?i)read-?only"), store.read() as tx:
        tx.jobs.add("train", {})
    with store.begin() as tx:
        tx.jobs.add("train", {})


@pytest.mark.both_stores
def test_a_reader_sees_one_moment(store: Store) -> None:
    """A reading block does not stop writers; their commits are visible only in the next block."""
    with store.read() as reading:
        assert reading.jobs.page(None, 10).items == []
        with store.begin() as tx:
            tx.jobs.add("train", {})
        assert reading.jobs.page(None, 10).items == []
    with store.read() as reading:
        assert len(reading.jobs.page(None, 10).items) == 1


@pytest.mark.long
@pytest.mark.embedded  # on PostgreSQL rows are locked where it matters
def test_transactions_that_read_and_write_are_serialised(store: Store) -> None:
    """Transactions that read and then write are serialized: no other writes between the two."""
    with store.begin() as tx:
        dataset_id = tx.datasets.add("counter", {"count": 0}).id

    def count() -> None:
        for _ in range(10):
            with store.begin() as tx:
                dataset = tx.datasets.get(dataset_id)
                time.sleep(0.001)
                dataset.source = {"count": dataset.source["count"] + 1}

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        assert tx.datasets.get(dataset_id).source == {"count": 40}


@pytest.mark.both_stores
def test_foreign_keys_are_enforced(store: Store) -> None:
    """A row cannot name a job that does not exist."""
    with pytest.raises(IntegrityError), store.begin() as tx:
        tx.rankings.add(job_id="job_none", system=System("bm25"), dataset_id="ds_1", queries=1, documents=1)


@pytest.mark.embedded
def test_sqlite_connections_have_wal_mode_and_foreign_keys(store: Store, settings: StoreSettings) -> None:
    """Connections run in WAL mode with foreign keys, a busy timeout of 30 s and normal synchronisation."""
    engine = open_engine(settings.database_url)
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
        }
    engine.dispose()
    assert found == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000, "synchronous": 1}


def test_stores_of_one_process_compile_a_statement_once(tmp_path: Path) -> None:
    """A second SQLite database reads with the statements that were compiled for the first."""
    compiled = []
    for name in ("first", "second"):
        (tmp_path / f"{name}.db").touch()
        engine = open_engine(f"sqlite:///{tmp_path / name}.db")
        with engine.connect() as connection:
            compiled.append(connection.execute(select(literal(1))).context.compiled)
        engine.dispose()
    assert compiled[0] is compiled[1]


@pytest.mark.embedded
def test_a_deleted_file_accepts_no_writes(store: Store, settings: StoreSettings) -> None:
    """Open connections could write to the deleted file, whose rows are lost; no empty file replaces it."""
    with store.begin() as tx:
        tx.jobs.add("train", {})
    revision = store.revision()
    path = sqlite_path(store._engine)
    aside = path.rename(path.with_name("aside.db"))
    with pytest.raises(StoreUnavailable, match="unable to open database file"), store.begin() as tx:
        tx.jobs.add("train", {})
    with pytest.raises(StoreUnavailable, match="unable to open database file"):
        store.revision()
    assert store.fault() == store.read_fault() == "cannot be opened"
    assert not path.exists()
    aside.rename(path)
    assert store.fault() is None
    assert store.revision() != revision


@pytest.mark.embedded
def test_any_folder_may_hold_the_database(tmp_path: Path) -> None:
    """Characters with a meaning in URLs are taken literally: the file is in the folder, not beside it."""
    name = "é+ %41#a b?c&mode=ro"
    opened = Store.open(StoreSettings(data_dir=tmp_path / name))
    opened.migrate()
    assert opened.fault() is None
    opened.close()
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / "rankery.db").stat().st_size > 0


@pytest.mark.embedded
def test_a_replaced_file_is_read(store: Store, settings: StoreSettings, tmp_path: Path) -> None:
    """Connections to the earlier file are closed, such as after a backup was restored over it."""
    other = Store.open(StoreSettings(data_dir=tmp_path / "other"))
    other.migrate()
    with other.begin() as tx:
        job = tx.jobs.add("train", {})
    other.close()
    with store.read() as tx:
        assert tx.jobs.page(None, 1).items == []
    path = sqlite_path(store._engine)
    store.disconnect()
    sqlite_path(other._engine).replace(path)
    with store.read() as tx:
        assert [each.id for each in tx.jobs.page(None, 9).items] == [job.id]


@pytest.mark.both_stores
@pytest.mark.long
def test_forty_threads_read_and_write_without_errors(store: Store) -> None:
    """Forty threads that write and read at the same time, as many as serve requests, all succeed."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(3):
                with store.begin() as tx:
                    tx.jobs.add("train", {})
                with store.read() as tx:
                    tx.jobs.page(None, 5)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with store.read() as tx:
        assert len(tx.jobs.page(None, 200).items) == 120


@pytest.mark.long
@pytest.mark.embedded
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_committed_rows_survive_a_killed_writer(store: Store, settings: StoreSettings) -> None:
    """After SIGKILL of a writing process the database opens, is whole and holds all that was committed."""
    reading, writing = os.pipe()
    writer = os.fork()
    if writer == 0:
        _write_for_ever(settings, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        committed = [lines.readline().strip() for _ in range(50)]
        os.kill(writer, signal.SIGKILL)
        committed += lines.read().split("\n")[:-1]
    assert os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) == -signal.SIGKILL
    store.close()
    reopened = Store.open(settings)
    reopened.migrate()
    with reopened.begin() as tx:
        assert {tx.jobs.get(job_id).status for job_id in committed} == {"running"}
        tx.jobs.add("train", {})
    reopened.close()
    with sqlite3.connect(settings.data_dir / "rankery.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def _write_for_ever(settings: StoreSettings, written: int) -> NoReturn:
    try:
        store = Store.open(settings)
        while True:
            with store.begin() as tx:
                job = tx.jobs.add("train", {"filling": "x" * 2000})
                tx.jobs.claim(job.id, "w", 15)
            os.write(written, f"{job.id}\n".encode())
    finally:
        os._exit(1)


@pytest.mark.both_stores
def test_a_transaction_that_outlives_the_store_closes_its_connection(store: Store) -> None:
    """A health check that timed out may still run when the service stops."""
    with store._engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        store.close()
        driver.execute("SELECT 1")
    with pytest.raises(Exception, match="closed"):
        driver.execute("SELECT 1")


@pytest.mark.long
@pytest.mark.both_stores
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_use_the_store_safely(store: Store) -> None:
    """Children of a process whose other threads are writing use the store safely, and so does the parent."""
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            with store.begin() as tx:
                tx.jobs.add("parent", {})

    threads = [threading.Thread(target=keep_writing) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = [_fork_writer(store, number) for number in range(4)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0, 0, 0, 0]
    with store.read() as tx:
        assert len(tx.jobs.page(None, 1000, kind="child").items) == 4 * 20


@pytest.mark.embedded
def test_forking_closes_connections(store: Store, settings: StoreSettings) -> None:
    """A child inherits no open database file."""
    with store.read() as tx:
        tx.jobs.page(None, 1)
    child = os.fork()
    if child == 0:
        targets = [Path(os.path.realpath(entry)) for entry in Path("/proc/self/fd").iterdir()]
        os._exit(any(target.name.startswith("rankery.db") for target in targets))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _fork_writer(store: Store, number: int) -> int:
    child = os.fork()
    if child:
        time.sleep(0.05)
        return child
    try:
        for _ in range(20):
            with store.begin() as tx:
                tx.jobs.add("child", {"number": number})
    except BaseException:  # noqa: BLE001 - a child must never return into the test run
        os._exit(1)
    os._exit(0)


@pytest.mark.parametrize("url", ["nonsense", "mysql://db/rankery", "sqlite://", "sqlite:///:memory:"])
def test_unusable_database_urls_are_refused(tmp_path: Path, url: str) -> None:
    """A database URL that names nothing usable is refused when the store is opened."""
    with pytest.raises(StoreUnavailable):
        Store.open(StoreSettings(data_dir=tmp_path, database_url=url))


def test_a_postgresql_url_selects_psycopg() -> None:
    """A plain PostgreSQL URL selects psycopg 3, and no connection is opened before it is needed."""
    engine = open_engine("postgresql://user:secret@db.invalid/rankery")
    assert engine.url.drivername == "postgresql+psycopg"
    assert open_engine("postgres://db.invalid/rankery").url.drivername == "postgresql+psycopg"


@pytest.mark.both_stores
def test_an_unreachable_database_has_a_fault(store: Store, tmp_path: Path) -> None:
    """A database that answers is up; one whose file cannot be opened is not."""
    assert store.fault() is None
    (tmp_path / "folder").mkdir()
    broken = Store.open(StoreSettings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path}/folder"))
    assert broken.fault() == "cannot be opened"
    with pytest.raises(StoreUnavailable), broken.begin() as tx:
        tx.jobs.get("job_1")


@pytest.mark.embedded
def test_a_file_other_than_a_database_is_reported(settings: StoreSettings) -> None:
    """Every action raises `StoreUnavailable`, and health checks report the fault."""
    store = Store.open(settings)
    (settings.data_dir / "rankery.db").write_bytes(b"no database" * 100)
    assert store.fault() == store.read_fault() == "is damaged"
    for act in (store.migrate, store.revision):
        with pytest.raises(StoreUnavailable, match="not a database"):
            act()
    for begin in (store.read, store.begin):
        with pytest.raises(StoreUnavailable, match="not a database"), begin() as tx:
            tx.jobs.page(None, 1)
    store.close()


@pytest.mark.embedded
def test_an_error_while_closing_for_a_fork_blocks_no_later_transaction(store: Store) -> None:
    """The lock that delays transactions is released after the fork, even if connections cannot be closed."""

    def fail() -> None:
        raise OSError("the disk fails")

    guard = ForkGuard(fail)
    forking._hold_all()
    forking._release_all()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(guard.delaying_forks().__enter__).result(5)


@pytest.mark.long
@pytest.mark.embedded
def test_a_held_lock_ends_writes_only(settings: StoreSettings) -> None:
    """SQLite: a write fails after `lock_seconds`, a read succeeds, and the fault names the lock."""
    store = Store.open(settings, lock_seconds=1)
    holder = sqlite3.connect(sqlite_path(store._engine), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert store.fault() == "accepts no writes: another transaction has held its lock for 1 s"
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="is locked: a transaction"), store.begin() as tx:
            tx.jobs.add("train", {})
        assert time.monotonic() - began >= 1
        with store.read() as tx:
            assert tx.jobs.page(None, 1).items == []
        holder.execute("ROLLBACK")
        assert store.fault() is None
    finally:
        holder.close()
        store.close()


@pytest.mark.servers
def test_a_table_that_is_locked_ends_writes(settings: StoreSettings) -> None:
    """PostgreSQL: writes end, too, where another session alters a table and keeps its lock."""
    store = Store.open(settings, lock_seconds=1)
    engine = open_engine(settings.database_url)
    try:
        with engine.connect() as holder:
            holder.exec_driver_sql("LOCK TABLE jobs IN SHARE MODE")
            assert store.fault() == "accepts no writes: another transaction has held its lock for 1 s"
            with pytest.raises(StoreUnavailable, match="is locked"), store.begin() as tx:
                tx.jobs.add("train", {})
        assert store.fault() is None
    finally:
        engine.dispose()
        store.close()


def test_without_its_folder_the_store_is_unavailable(tmp_path: Path) -> None:
    """The store is unavailable if the path of the data folder is a file."""
    (tmp_path / "data").write_bytes(b"")
    with pytest.raises(StoreUnavailable):
        Store.open(StoreSettings(data_dir=tmp_path / "data"))
