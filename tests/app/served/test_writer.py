"""The writer of lists, at faults of the database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.served.writer import MAX_WAITING, ListWriter, PendingList
from core.errors import StoreUnavailable
from core.store import Store, StoreSettings, Transaction, new_id
from core.store.clock import utc_now
from tests.servers.fixtures import Places


class FaultyStore(Store):
    """A store whose transactions fail while it is out of order."""

    out_of_order = False

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a transaction, unless it is out of order."""
        if self.out_of_order:
            raise StoreUnavailable("out of order")
        with super().begin() as tx:
            yield tx


@pytest.fixture
def store(places: Places) -> Iterator[FaultyStore]:
    """A migrated, empty store."""
    store = FaultyStore.open(StoreSettings(**places))
    yield store
    store.close()


@pytest.fixture
def writer(store: FaultyStore) -> Iterator[ListWriter]:
    """A running writer that waits for a flush."""
    writer = ListWriter(store, seconds=3_600)
    writer.start()
    yield writer
    writer.close()


def ranking(**changed: object) -> PendingList:
    """Return a ranking that is to be written."""
    row = {"id": new_id("srv_"), "name": "web", "version": 1, "user": None, "session": None}
    row |= {"content": {"query": "q", "documents": ["a"]}, "created_at": utc_now()}
    return PendingList("rankings", {**row, **changed})


def ids(store: Store) -> list[str]:
    """Return the ids of all rankings."""
    with store.read() as tx:
        return [served.ranking.id for served in tx.served.lists("web", None, None, utc_now())]


def test_lists_wait_for_the_database(store: FaultyStore, writer: ListWriter) -> None:
    """A flush fails meanwhile and loses nothing; one for other lists does not wait at all."""
    store.out_of_order = True
    first = ranking()
    assert writer.put(first)
    with pytest.raises(StoreUnavailable):
        writer.flush()
    writer.flush(["srv_other"])
    store.out_of_order = False
    second = ranking()
    assert writer.put(second)
    writer.flush([second.row["id"]])
    assert ids(store) == [first.row["id"], second.row["id"]]


def test_a_list_that_cannot_be_written_stops_no_other(store: FaultyStore, writer: ListWriter) -> None:
    """It is dropped and logged."""
    good, bad, better = ranking(), ranking(version="no number", name=None), ranking()
    assert writer.put(good, bad, better)
    writer.flush()
    assert ids(store) == [good.row["id"], better.row["id"]]


def test_too_many_lists_are_refused(store: FaultyStore) -> None:
    """None of them is queued."""
    writer = ListWriter(store)
    assert writer.put(*(ranking() for _ in range(MAX_WAITING)))
    assert not writer.put(ranking())


def test_closing_writes_what_waits(store: FaultyStore) -> None:
    """More than one batch of it, put by several threads."""
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
