"""Revisions of the database, which change with every commit."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from core.store import Store, StoreSettings


@pytest.mark.embedded  # other activity of a PostgreSQL server changes the revision, too
def test_the_revision_stays_while_nothing_changes(store: Store) -> None:
    """Neither a read nor a transaction that was rolled back changes the revision."""
    with store.begin() as tx:
        tx.jobs.add("train", {})
    revision = store.revision()
    with store.read() as tx:
        tx.jobs.page(None, 10)
    with suppress(ZeroDivisionError), store.begin() as tx:
        tx.jobs.add("train", {})
        raise ZeroDivisionError
    assert store.revision() == revision


@pytest.mark.both_stores
def test_every_commit_changes_the_revision(store: Store, settings: StoreSettings) -> None:
    """The commit may be by this store, by another thread's connection, or by another store."""
    other = Store.open(settings)

    def add(to: Store) -> None:
        with to.begin() as tx:
            tx.jobs.add("train", {})

    revisions = [store.revision()]
    changes: list[Callable[[], None]] = [
        lambda: add(store),
        lambda: add(other),
        lambda: _in_thread(lambda: add(store)),
    ]
    for change in changes:
        change()
        revisions.append(store.revision())
    other.close()
    assert len(set(revisions)) == 4


def test_a_change_shows_once_it_is_committed(store: Store) -> None:
    """A revision that was read during a transaction differs from the revision after its commit."""
    with store.begin() as tx:
        tx.jobs.add("train", {})
        during = store.revision()
    assert store.revision() != during


def test_revisions_stay_unique_after_reconnecting(store: Store) -> None:
    """A later commit has another revision, even if the store closed its connections in between."""
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


def _in_thread(change: Callable[[], None]) -> None:
    thread = threading.Thread(target=change)
    thread.start()
    thread.join()
