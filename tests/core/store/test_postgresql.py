"""Transactions on a database server behind a network."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from core.errors import StoreUnavailable
from core.store import Store, StoreSettings, Transaction
from core.store.clock import utc_now
from core.store.engines import open_engine
from tests.servers import PostgresServer, TcpProxy
from tests.servers.fixtures import StoreArguments

pytestmark = [pytest.mark.servers, pytest.mark.long]


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[TcpProxy]:
    """A TCP proxy between the store and the server."""
    with TcpProxy(postgres.port) as proxy:
        yield proxy


@pytest.fixture
def proxied_store(
    store_arguments: StoreArguments, postgres: PostgresServer, proxy: TcpProxy
) -> Iterator[Store]:
    """A migrated, empty store whose server the proxy can disconnect."""
    database_url = store_arguments["database_url"].replace(f":{postgres.port}/", f":{proxy.port}/")
    store = Store.open(StoreSettings(**store_arguments | {"database_url": database_url}))
    yield store
    store.close()


def test_every_session_has_bounds(settings: StoreSettings) -> None:
    """Statements, waits for rows and idle transactions have timeouts."""
    engine = open_engine(settings.database_url)
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        }
    engine.dispose()
    assert found == {
        "statement_timeout": "1min",
        "lock_timeout": "30s",
        "idle_in_transaction_session_timeout": "30s",
    }


def test_a_restarted_server_is_used_again(tmp_path: Path) -> None:
    """Connections from before a restart, or a crash, are replaced without an error."""
    with PostgresServer(tmp_path / "postgres") as server:
        store = Store.open(StoreSettings(data_dir=tmp_path, database_url=server.new_database()))
        store.migrate()
        with store.begin() as tx:
            first = tx.jobs.add("train", {})
        server.restart()
        with store.begin() as tx:
            second = tx.jobs.add("train", {})
        server.kill()
        with pytest.raises(StoreUnavailable, match=r"refuses|cuts"), store.read() as tx:
            tx.jobs.get(first.id)
        server.start()
        with store.read() as tx:
            assert [job.id for job in tx.jobs.page(None, 5).items] == [second.id, first.id]
        store.close()


def _add_then(tx: Transaction, act: Callable[[], object]) -> None:
    tx.jobs.add("train", {})
    act()


def _add_around(tx: Transaction, act: Callable[[], object]) -> None:
    _add_then(tx, act)
    tx.jobs.add("train", {})


def test_a_transaction_whose_connection_breaks_leaves_nothing(proxied_store: Store, proxy: TcpProxy) -> None:
    """A transaction whose connection breaks is reported and leaves nothing; the next one works."""
    with pytest.raises(StoreUnavailable), proxied_store.begin() as tx:
        _add_around(tx, proxy.shut)
    proxy.open()
    with proxied_store.begin() as tx:
        assert tx.jobs.page(None, 5).items == []
        tx.jobs.add("train", {})


def test_a_connection_lost_before_the_commit_is_reported(proxied_store: Store, proxy: TcpProxy) -> None:
    """The caller gets `StoreUnavailable`, and may try again."""
    with pytest.raises(StoreUnavailable), proxied_store.begin() as tx:
        _add_then(tx, proxy.shut)


def test_errors_hide_the_address(proxied_store: Store, proxy: TcpProxy) -> None:
    """The error of an unreachable server contains neither its address nor its user."""
    proxy.shut()
    with pytest.raises(StoreUnavailable) as raised, proxied_store.read() as tx:
        tx.jobs.page(None, 1)
    assert str(raised.value) == "the database refuses connections (OperationalError)"
    assert proxied_store.fault() == "refuses connections"


def test_an_ended_session_fails_only_its_own_transaction(store: Store) -> None:
    """An administrator who ends a session makes its transaction fail, and no other."""
    with pytest.raises(StoreUnavailable), store.begin() as tx:
        _add_around(tx, lambda: _end_other_sessions(store))
    with store.begin() as tx:
        tx.jobs.add("train", {})


def _end_other_sessions(store: Store) -> None:
    with store._engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


def test_a_deadlock_ends_one_transaction(store: Store) -> None:
    """Of two transactions that lock the same rows in opposite orders one is reported, the other commits."""
    with store.begin() as tx:
        jobs = [tx.jobs.add("train", {}).id for _ in range(2)]
    both_hold_one = threading.Barrier(2)

    def cancel(order: list[str]) -> bool:
        try:
            with store.begin() as tx:
                tx.jobs.request_cancel(order[0])
                both_hold_one.wait(10)
                tx.jobs.request_cancel(order[1])
        except StoreUnavailable:
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        committed = list(threads.map(cancel, [jobs, jobs[::-1]]))
    assert sorted(committed) == [False, True]
    with store.read() as tx:
        assert [tx.jobs.get(job).status for job in jobs] == ["cancelled", "cancelled"]


def test_lists_expire_beside_the_deletion_of_their_interleaving(store: Store) -> None:
    """Both transactions lock the interleaving before its lists; the opposite order could cause a deadlock."""
    with store.begin() as tx:
        options = {"method": "team_draft", "length": 1, "seed": 1, "unit": "user", "click_window_seconds": 0}
        interleaving = tx.interleavings.add(name="x", rankers=["a", "b"], model_ids=None, rule={}, **options)
        shown = {"id": "lst_1", "interleaving_id": interleaving.id, "assignment": None, "user": None}
        tx.interleavings.add_lists([shown | {"content": {}}])

    def expire() -> int:
        with store.begin() as tx:
            return tx.interleavings.expire_lists(utc_now(), 10)

    with ThreadPoolExecutor(1) as other:
        with store.begin() as tx:
            tx.interleavings.locked(interleaving.id)
            expired = other.submit(expire)
            _wait_for_a_blocked_session(store)
            tx.interleavings.delete(interleaving.id)
        assert expired.result() == 0


def _wait_for_a_blocked_session(store: Store) -> None:
    blocked = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    # Within one transaction, PostgreSQL shows the activity of its first look only.
    with store._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.scalar(blocked):
            time.sleep(0.01)
