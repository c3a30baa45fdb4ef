"""The background writer of lists, also while the database fails."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.served.writer import MAX_WAITING, ListWriter, PendingList
from core.errors import StoreUnavailable
from core.store import Store, StoreSettings, Transaction, new_id
from core.store.clock import utc_now
from tests.servers.fixtures import StoreArguments


class FaultyStore(Store):
    """A store whose transactions fail while `is_failing` is set."""

    is_failing = False

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a transaction, or raise `StoreUnavailable` while `is_failing` is set."""
        if self.is_failing:
            raise StoreUnavailable("out of order")
        with super().begin() as tx:
            yield tx


@pytest.fixture
def store(store_arguments: StoreArguments) -> Iterator[FaultyStore]:
    """A migrated, empty store."""
    store = FaultyStore.open(StoreSettings(**store_arguments))
    yield store
    store.close()


@pytest.fixture
def writer(store: FaultyStore) -> Iterator[ListWriter]:
    """A running writer that writes only when it is flushed."""
    writer = ListWriter(store, seconds=3_600)
    writer.start()
    yield writer
    writer.close()


def ranking(**changed: object) -> PendingList:
    """Return a ranking for the writer."""
    row = {"id": new_id("srv_"), "name": "web", "version": 1, "user": None, "session": None}
    row |= {"content": {"query": "q", "documents": ["a"]}, "created_at": utc_now()}
    return PendingList("rankings", {**row, **changed})


def ids(store: Store) -> list[str]:
    """Return the ids of all rankings."""
    with store.read() as tx:
        return [served.ranking.id for served in tx.served.lists("web", None, None, utc_now())]


def test_lists_wait_for_the_database(store: FaultyStore, writer: ListWriter) -> None:
    """A flush fails without the database and loses no list; a flush for other lists returns immediately."""
    store.is_failing = True
    first = ranking()
    assert writer.put(first)
    with pytest.raises(StoreUnavailable):
        writer.flush()
    writer.flush(["srv_other"])
    store.is_failing = False
    second = ranking()
    assert writer.put(second)
    writer.flush([second.row["id"]])
    assert ids(store) == [first.row["id"], second.row["id"]]


def test_a_list_that_cannot_be_written_stops_no_other(store: FaultyStore, writer: ListWriter) -> None:
    """The invalid list is dropped, and the lists before and after it are written."""
    good, bad, better = ranking(), ranking(version="no number", name=None), ranking()
    assert writer.put(good, bad, better)
    writer.flush()
    assert ids(store) == [good.row["id"], better.row["id"]]


def test_too_many_lists_are_refused(store: FaultyStore) -> None:
    """Lists beyond `MAX_WAITING` are not queued."""
    writer = ListWriter(store)
    assert writer.put(*(ranking() for _ in range(MAX_WAITING)))
    assert not writer.put(ranking())


def test_closing_writes_the_waiting_lists(store: FaultyStore) -> None:
    """Waiting lists of several batches, queued by several threads, are all written."""
    writer = ListWriter(store, seconds=3_600)
    writer.start()
    lists = [[ranking() for _ in range(150)] for _ in range(4)]
    threads = [threading.Thread(target=writer.put, args=some) for some in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(ids(store)) == sorted(each.row["id"] for some in lists for each in some)
