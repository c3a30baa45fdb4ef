"""Counters that all processes share."""

import threading

import pytest

from core.store import Store
from core.store.repositories.statistics import Count


def _counts(store: Store) -> list[Count]:
    with store.read() as tx:
        return tx.counters.all()


@pytest.mark.both_stores
def test_a_counter_grows_by_the_added_amounts(store: Store) -> None:
    """Amounts add up within a transaction and across transactions."""
    with store.begin() as tx:
        tx.counters.add("leases_lost")
        tx.counters.add("leases_lost", amount=2)
    with store.begin() as tx:
        tx.counters.add("leases_lost", amount=0.5)
    assert _counts(store) == [Count("leases_lost", {}, 1 + 2 + 0.5)]


def test_counters_differ_by_their_labels_in_any_order(store: Store) -> None:
    """The same labels in another order are the same counter."""
    with store.begin() as tx:
        tx.counters.add("job_attempts", {"kind": "train", "ending": "lost"})
        tx.counters.add("job_attempts", {"ending": "lost", "kind": "train"})
        tx.counters.add("job_attempts", {"kind": "rank", "ending": "lost"})
    assert _counts(store) == [
        Count("job_attempts", {"ending": "lost", "kind": "rank"}, 1),
        Count("job_attempts", {"ending": "lost", "kind": "train"}, 2),
    ]


def test_a_failed_transaction_counts_nothing(store: Store) -> None:
    """Counts are rolled back with their transaction."""

    def fail() -> None:
        with store.begin() as tx:
            tx.counters.add("leases_lost")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert _counts(store) == []


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
    assert _counts(store) == [Count("a", {}, 4 * 25), Count("b", {}, 4 * 25 * 2)]


def test_counters_only_grow(store: Store) -> None:
    """A negative amount is a programming error."""
    with pytest.raises(ValueError, match="cannot grow by -1"), store.begin() as tx:
        tx.counters.add("leases_lost", amount=-1)
