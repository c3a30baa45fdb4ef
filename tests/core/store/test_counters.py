"""Counters that all processes share."""

import threading

import pytest

from core.store import Store
from core.store.repositories.counters import Count


def _all(store: Store) -> list[Count]:
    with store.read() as tx:
        return tx.counters.all()


@pytest.mark.both_stores
def test_a_counter_grows_by_what_is_added(store: Store) -> None:
    """Amounts come together within a transaction and over transactions."""
    with store.begin() as tx:
        tx.counters.add("leases_lost")
        tx.counters.add("leases_lost", amount=2)
    with store.begin() as tx:
        tx.counters.add("leases_lost", amount=0.5)
    assert _all(store) == [Count("leases_lost", {}, 1 + 2 + 0.5)]


def test_labels_tell_counters_apart_whatever_their_order(store: Store) -> None:
    """Two counters have the same name; the order of a counter's labels means nothing."""
    with store.begin() as tx:
        tx.counters.add("job_attempts", {"kind": "train", "ending": "lost"})
        tx.counters.add("job_attempts", {"ending": "lost", "kind": "train"})
        tx.counters.add("job_attempts", {"kind": "rank", "ending": "lost"})
    assert _all(store) == [
        Count("job_attempts", {"ending": "lost", "kind": "rank"}, 1),
        Count("job_attempts", {"ending": "lost", "kind": "train"}, 2),
    ]


def test_what_is_undone_was_not_counted(store: Store) -> None:
    """A transaction that fails takes its counts with it."""

    def fail() -> None:
        with store.begin() as tx:
            tx.counters.add("leases_lost")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert _all(store) == []


@pytest.mark.both_stores
@pytest.mark.long
def test_no_count_of_concurrent_writers_is_lost(store: Store) -> None:
    """Each addition happens in the database, not to a value read before."""

    def count() -> None:
        for _ in range(25):
            with store.begin() as tx:
                tx.counters.add("b", amount=2)
                tx.counters.add("a")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _all(store) == [Count("a", {}, 4 * 25), Count("b", {}, 4 * 25 * 2)]


def test_counters_only_grow(store: Store) -> None:
    """A negative amount is a mistake of ours."""
    with pytest.raises(ValueError, match="cannot grow by -1"), store.begin() as tx:
        tx.counters.add("leases_lost", amount=-1)
