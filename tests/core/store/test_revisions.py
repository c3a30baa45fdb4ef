"""Revisions: names of the states of the database."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from core.errors import StoreUnavailable
from core.store import Store, StoreSettings


@pytest.mark.embedded  # other activity of a PostgreSQL server gives new names, too
def test_the_name_stays_while_nothing_changes(store: Store) -> None:
    """Neither reading nor a transaction that was undone gives the state a new name."""
    with store.begin() as tx:
        tx.jobs.add("train", {})
    name = store.revision()
    with store.read() as tx:
        tx.jobs.page(None, 10)
    with suppress(ZeroDivisionError), store.begin() as tx:
        tx.jobs.add("train", {})
        raise ZeroDivisionError
    assert store.revision() == name


@pytest.mark.both_stores
def test_every_change_gives_a_new_name(store: Store, settings: StoreSettings) -> None:
    """The change may be by this store, by another thread's connection, or by another store."""
    other = Store.open(settings)

    def add(to: Store) -> None:
        with to.begin() as tx:
            tx.jobs.add("train", {})

    names = [store.revision()]
    changes: list[Callable[[], None]] = [
        lambda: add(store),
        lambda: add(other),
        lambda: _in_thread(lambda: add(store)),
    ]
    for change in changes:
        change()
        names.append(store.revision())
    other.close()
    assert len(set(names)) == 4


def test_a_change_shows_once_it_is_committed(store: Store) -> None:
    """A name that was read during a transaction does not name the state after its commit."""
    with store.begin() as tx:
        tx.jobs.add("train", {})
        during = store.revision()
    assert store.revision() != during


def test_names_stay_unique_after_reconnecting(store: Store) -> None:
    """Different states never have the same name, even if the store closed its connections in between."""
    before = store.revision()
    store.close()
    with store.begin() as tx:
        tx.jobs.add("train", {})
    assert store.revision() != before


@pytest.mark.embedded
def test_a_fork_inherits_no_connection(store: Store) -> None:
    """SQLite's connections must not be used in two processes."""
    store.revision()
    child = os.fork()
    if child == 0:
        targets = [Path(os.path.realpath(entry)) for entry in Path("/proc/self/fd").iterdir()]
        os._exit(any(target.name.startswith("rankery.db") for target in targets))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.embedded
def test_a_file_that_is_no_database(settings: StoreSettings) -> None:
    """The error is `StoreUnavailable`, as for other actions."""
    store = Store.open(settings)
    (settings.data_dir / "rankery.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreUnavailable, match="not a database"):
        store.revision()
    store.close()


def _in_thread(change: Callable[[], None]) -> None:
    thread = threading.Thread(target=change)
    thread.start()
    thread.join()
