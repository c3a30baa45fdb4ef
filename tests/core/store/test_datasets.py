"""Rows of datasets."""

from collections.abc import Callable

import pytest

from core.errors import NotFound
from core.store import Dataset, Job, Store, new_id
from core.store.repositories.datasets import Datasets


def test_a_new_dataset_is_pending(store: Store) -> None:
    """A dataset begins pending, under the id its bytes were stored at."""
    dataset_id = new_id("ds_")
    with store.begin() as tx:
        tx.datasets.add(
            "web", {"kind": "upload", "filename": "web.txt"}, dataset_id, size_bytes=5, sha256="ab"
        )
    with store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    assert (dataset.name, dataset.status) == ("web", "pending")
    assert dataset.source == {"kind": "upload", "filename": "web.txt"}
    assert (dataset.size_bytes, dataset.sha256, dataset.statistics, dataset.problem) == (5, "ab", None, None)


@pytest.mark.both_stores
def test_a_dataset_that_was_read_is_ready(store: Store, ingest: tuple[Dataset, Job]) -> None:
    """A dataset that was read is ready with its statistics and findings, and has the format of its file."""
    dataset, job = ingest
    with store.begin() as tx:
        tx.datasets.mark_ready(
            dataset.id,
            statistics={"queries": 3},
            findings=[{"code": "constant-features"}],
            digest="d1",
            data_key="data/d1-a/data.parquet",
            format="letor",
        )
    with store.read() as tx:
        ready = tx.datasets.get(dataset.id)
    assert (ready.status, ready.statistics) == ("ready", {"queries": 3})
    assert (ready.findings, ready.digest) == ([{"code": "constant-features"}], "d1")
    assert ready.data_key == "data/d1-a/data.parquet"
    assert ready.source == {"kind": "upload", "format": "letor"}
    assert ready.job_id == job.id
    assert ready.updated_at > ready.created_at


def test_parts_of_one_upload_are_recorded(store: Store) -> None:
    """Each dataset of an upload of several files has the ids of all its datasets."""
    parts = {"train": new_id("ds_"), "test": new_id("ds_")}
    with store.begin() as tx:
        for part, dataset_id in parts.items():
            tx.datasets.add(f"web {part}", {"kind": "upload"}, dataset_id, parts=parts)
    with store.read() as tx:
        assert [tx.datasets.get(dataset_id).parts for dataset_id in parts.values()] == [parts, parts]


def test_an_unknown_dataset_is_not_found(store: Store, job: Job) -> None:
    """Every action on an unknown dataset raises `NotFound`."""
    with store.begin() as tx:
        acts: list[Callable[[Datasets], object]] = [
            lambda datasets: datasets.get("ds_none"),
            lambda datasets: datasets.mark_ready("ds_none", statistics={}),
            lambda datasets: datasets.attach_job("ds_none", job.id),
        ]
        for act in acts:
            with pytest.raises(NotFound, match="ds_none"):
                act(tx.datasets)
        dataset = tx.datasets.add("web", {})
        with pytest.raises(NotFound, match="job_none"):
            tx.datasets.attach_job(dataset.id, "job_none")


def test_datasets_are_listed_newest_first(store: Store) -> None:
    """Datasets are listed newest first; they can be filtered by status, name and SHA-256."""
    with store.begin() as tx:
        first, second = tx.datasets.add("a", {}), tx.datasets.add("b", {}, sha256="ab")
        tx.datasets.mark_ready(first.id, statistics={})
        assert [row.id for row in tx.datasets.page(None, 10).items] == [second.id, first.id]
        assert [row.id for row in tx.datasets.page(None, 10, status="ready").items] == [first.id]
        assert [row.id for row in tx.datasets.page(None, 10, name="b").items] == [second.id]
        assert tx.datasets.page(None, 10, name="b", status="ready").items == []
        assert [row.id for row in tx.datasets.page(None, 10, sha256="ab").items] == [second.id]
