"""Datasets with equal digests share their stored content."""

import threading
from collections.abc import Callable

import pytest

from core.store import Dataset, Store
from tests.invalid_datasets import mark_invalid
from tests.purging import purge

PARQUET = "data/d1-{}/data.parquet"


def make_ready(store: Store, key: str, digest: str = "d1") -> Dataset:
    """Record a dataset whose content is stored under a key."""
    with store.begin() as tx:
        dataset = tx.datasets.add("web", {"kind": "upload", "format": "auto"})
        return tx.datasets.mark_ready(
            dataset.id,
            statistics={"queries": 3},
            findings=[{"code": "constant-features"}],
            digest=digest,
            data_key=PARQUET.format(key),
            format="letor",
        )


def take_over(store: Store, digest: str = "d1") -> Dataset | None:
    """Record a dataset with the content of another one; return None if there is none with this digest."""
    with store.begin() as tx:
        dataset = tx.datasets.add("again", {"kind": "upload", "format": "auto", "filename": "b.txt"})
        return tx.datasets.take_over(dataset.id, digest)


def together(*acts: Callable[[], object]) -> None:
    """Call functions in threads at the same time."""
    barrier = threading.Barrier(len(acts))

    def act(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    threads = [threading.Thread(target=act, args=(work,)) for work in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


def test_a_known_digest_is_taken_over(store: Store) -> None:
    """The second dataset is ready with all that was found for the first, under its own name and source."""
    first = make_ready(store, "a")
    second = take_over(store)
    assert second is not None
    assert (second.status, second.name, second.data_key) == ("ready", "again", first.data_key)
    assert (second.statistics, second.findings) == (first.statistics, first.findings)
    assert second.source == {"kind": "upload", "format": "letor", "filename": "b.txt"}


def test_another_digest_is_not_taken_over(store: Store) -> None:
    """Neither a dataset of another digest nor one that is not ready shares its content."""
    make_ready(store, "a", digest="d2")
    with store.begin() as tx:
        invalid = tx.datasets.add("bad", {"kind": "upload"})
        mark_invalid(tx, invalid.id, {"title": "Bad file"})
    assert take_over(store) is None


def test_the_second_ready_dataset_takes_the_content_of_the_first(store: Store) -> None:
    """Two datasets that are read at the same time with the same content keep one copy of it."""
    first, second = make_ready(store, "a"), make_ready(store, "b")
    assert second.data_key == first.data_key == PARQUET.format("a")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_content_is_deleted_with_the_last_dataset(store: Store, order: tuple[int, int]) -> None:
    """The shared content is deleted with the second dataset, whichever is deleted first."""
    datasets = [make_ready(store, "a"), take_over(store)]
    removed = []
    for position in order:
        dataset = datasets[position]
        assert dataset is not None
        with store.begin() as tx:
            removed.append(purge(tx, "dataset", dataset.id))
        assert removed[-1][0] == f"datasets/{dataset.id}"
    assert [folders[1:] for folders in removed] == [[], ["data/d1-a"]]


@pytest.mark.long
@pytest.mark.both_stores
def test_one_of_several_deletions_deletes_the_content(store: Store) -> None:
    """Of datasets that are deleted together, exactly one deletes the content."""
    for key in map(str, range(10)):
        datasets = [make_ready(store, key), take_over(store), take_over(store)]
        removed: list[str] = []

        def delete(dataset: Dataset | None, removed: list[str] = removed) -> None:
            assert dataset is not None
            with store.begin() as tx:
                removed += purge(tx, "dataset", dataset.id)[1:]

        together(*(lambda dataset=dataset: delete(dataset) for dataset in datasets))
        assert removed == [f"data/d1-{key}"]


@pytest.mark.long
@pytest.mark.both_stores
def test_a_content_being_deleted_is_kept_or_not_taken_over(store: Store) -> None:
    """The content either stays for the new dataset, or is gone and not taken over."""
    for key in map(str, range(20)):
        first, taken, removed = make_ready(store, key), list[Dataset | None](), list[str]()

        def delete(first: Dataset = first, removed: list[str] = removed) -> None:
            with store.begin() as tx:
                removed += purge(tx, "dataset", first.id)[1:]

        def take(taken: list[Dataset | None] = taken) -> None:
            taken.append(take_over(store))

        together(delete, take)
        assert removed == ([] if taken[0] else [f"data/d1-{key}"])
        if taken[0]:
            with store.begin() as tx:
                purge(tx, "dataset", taken[0].id)


@pytest.mark.both_stores
def test_datasets_read_in_parallel_share_one_copy(store: Store) -> None:
    """Four datasets that are read with the same content refer to one copy."""
    together(*(lambda key=key: make_ready(store, key) for key in "abcd"))
    with store.read() as tx:
        rows = tx.datasets.page(None, 10).items
    assert len(rows) == 4
    assert len({row.data_key for row in rows}) == 1
