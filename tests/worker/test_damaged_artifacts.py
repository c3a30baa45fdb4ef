"""Damaged artifacts: no job uses them, and good copies repair them."""

import hashlib
import io

import pytest

from core.data import synthetic_dataset, write_letor
from core.store import Dataset, Store, new_id
from core.store.artifacts.keys import (
    data_folder,
    features_key,
    model_key,
    model_upload_key,
    queries_key,
    ranking_key,
    upload_key,
)
from tests.purging import purge
from tests.servers.fixtures import artifact_keys
from tests.worker.workshop import Workshop
from worker import WorkerSettings

SMALL = synthetic_dataset(30, seed=1, documents_per_query=10, n_features=4)
DAMAGED = "Stored bytes damaged"


@pytest.fixture
def workshop(store: Store, settings: WorkerSettings) -> Workshop:
    """A worker that keeps nothing at hand between jobs, and writes the first and the last report of each."""
    without_caches = {"array_cache_bytes": 0, "binned_cache_bytes": 0, "report_seconds": 3600.0}
    return Workshop(store, settings.model_copy(update=without_caches))


@pytest.fixture
def content() -> bytes:
    """A file to upload."""
    file = io.BytesIO()
    write_letor(SMALL, file)
    return file.getvalue()


def upload(workshop: Workshop, content: bytes) -> Dataset:
    """Send a file, and return the dataset that becomes of it."""
    dataset_id = new_id("ds_")
    workshop.store.artifacts.write_bytes(upload_key(dataset_id), content)
    with workshop.store.begin() as tx:
        sha256 = hashlib.sha256(content).hexdigest()
        tx.datasets.add("d", {"kind": "upload", "format": "auto"}, dataset_id, sha256=sha256)
        job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
    assert workshop.carry_out(job.id).status == "succeeded"
    return found(workshop, dataset_id)


def found(workshop: Workshop, dataset_id: str) -> Dataset:
    """Return a dataset as it is now."""
    with workshop.store.read() as tx:
        return tx.datasets.get(dataset_id)


def key_of(dataset: Dataset) -> str:
    """Return where the Parquet of a dataset is."""
    assert dataset.data_key is not None
    return dataset.data_key


def alter(store: Store, key: str) -> bytes:
    """Alter the byte in the middle of an artifact; return what it was."""
    content = store.artifacts.read_bytes(key)
    place = len(content) // 2
    store.artifacts.write_bytes(key, content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    return content


def damaged(store: Store) -> list[str]:
    """List the artifacts that are on record as damaged."""
    with store.read() as tx:
        return tx.artifacts.damaged(99)


@pytest.mark.long
def test_no_model_comes_of_altered_parquet(workshop: Workshop, content: bytes) -> None:
    """The job fails, names the artifact, and the next one after it was put back succeeds."""
    dataset = upload(workshop, content)
    good = alter(workshop.store, key_of(dataset))
    job = workshop.train(dataset.id)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)
    assert job.problem is not None
    assert key_of(dataset) in job.problem["detail"]
    assert damaged(workshop.store) == [dataset.data_key]
    workshop.store.artifacts.write_bytes(key_of(dataset), good)
    assert workshop.train(dataset.id).status == "succeeded"
    assert damaged(workshop.store) == []


def test_a_dataset_at_hand_is_used_while_its_parquet_is_damaged(
    store: Store, settings: WorkerSettings, content: bytes
) -> None:
    """What a cache took in was verified then."""
    workshop = Workshop(store, settings)
    dataset = upload(workshop, content)
    alter(store, key_of(dataset))
    assert workshop.train(dataset.id).status == "succeeded"


def test_no_evaluation_comes_of_an_altered_model(workshop: Workshop, content: bytes) -> None:
    """Whatever the byte: its scores would be others, or none."""
    dataset = upload(workshop, content)
    model_id = workshop.trained(dataset.id)["model_id"]
    alter(workshop.store, model_key(model_id))
    job = workshop.run("evaluate", dataset.id, model_id=model_id, metrics=["ndcg@5"])
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


def test_no_evaluation_comes_of_an_altered_ranking(workshop: Workshop, content: bytes) -> None:
    """Stored results are verified before jobs use them, too."""
    dataset = upload(workshop, content)
    model_id = workshop.trained(dataset.id)["model_id"]
    ranked = workshop.run("rank", dataset.id, model_id=model_id)
    assert ranked.result is not None
    ranking_id = ranked.result["ranking_id"]
    alter(workshop.store, ranking_key(ranking_id))
    job = workshop.run("evaluate", dataset.id, ranking_id=ranking_id, system="run", metrics=["ndcg@5"])
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


@pytest.mark.parametrize(
    ("how", "name"),
    [
        *(("altered", name) for name in ("data", "queries", "features")),
        ("gone", "data"),
        *(pytest.param("gone", name, marks=pytest.mark.slow) for name in ("queries", "features")),
    ],
)
def test_good_bytes_sent_again_heal_all_datasets_that_share_them(
    workshop: Workshop, content: bytes, how: str, name: str
) -> None:
    """Instead of sharing what is damaged, they all get what was read now, and the damaged copy goes."""
    first, second = upload(workshop, content), upload(workshop, content)
    damaged_key = key_of(first)
    assert damaged_key == second.data_key
    key = {"data": damaged_key, "queries": queries_key(damaged_key), "features": features_key(damaged_key)}
    if how == "altered":
        alter(workshop.store, key[name])
    else:
        workshop.store.artifacts.delete(key[name])
    third = upload(workshop, content)
    assert third.data_key != damaged_key
    assert {found(workshop, dataset.id).data_key for dataset in (first, second)} == {third.data_key}
    assert damaged(workshop.store) == []
    folders = {data_folder(k) for k in artifact_keys(workshop.settings.storage_url) if k.startswith("data/")}
    assert folders == {data_folder(key_of(third))}
    assert workshop.train(first.id).status == "succeeded"


def test_what_is_shared_goes_with_its_checksums(workshop: Workshop, content: bytes) -> None:
    """Deleted datasets leave nothing on record that would be missing."""
    dataset = upload(workshop, content)
    with workshop.store.begin() as tx:
        assert len(list(tx.artifacts.under(data_folder(key_of(dataset))))) == 3
        purge(tx, "dataset", dataset.id)
        assert list(tx.artifacts.under("data/")) == []


def test_a_file_from_before_checksums_gets_one_when_it_is_read(workshop: Workshop) -> None:
    """From then on it is verified like any other."""
    dataset_id = workshop.add(SMALL, "old")
    assert workshop.train(dataset_id).status == "succeeded"
    alter(workshop.store, "data/old/data.parquet")
    job = workshop.train(dataset_id)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


@pytest.mark.long
def test_a_model_imported_again_heals_its_copies(workshop: Workshop, content: bytes) -> None:
    """The same text under another name, or the same one."""
    dataset = upload(workshop, content)
    model_id = workshop.trained(dataset.id)["model_id"]
    good = alter(workshop.store, model_key(model_id))
    workshop.store.artifacts.write_bytes(model_upload_key("mup_1"), good)
    spec = {"upload_id": "mup_1", "model_name": "copy", "description": None, "tags": None}
    sent = {"sha256": hashlib.sha256(good).hexdigest(), "size_bytes": len(good), "filename": "model.txt"}
    job = workshop.run("import-model", dataset.id, **spec, **sent)
    assert job.status == "succeeded", job.problem
    assert workshop.store.artifacts.read_bytes(model_key(model_id)) == good
    assert damaged(workshop.store) == []


@pytest.mark.long
def test_a_model_altered_before_its_import_is_refused(workshop: Workshop, content: bytes) -> None:
    """What is stored under a checksum has that checksum."""
    dataset = upload(workshop, content)
    good = workshop.store.artifacts.read_bytes(model_key(workshop.trained(dataset.id)["model_id"]))
    altered = good + b"\n"
    workshop.store.artifacts.write_bytes(model_upload_key("mup_1"), altered)
    spec = {"upload_id": "mup_1", "model_name": "copy", "description": None, "tags": None}
    sent = {"sha256": hashlib.sha256(good).hexdigest(), "size_bytes": len(good), "filename": "model.txt"}
    job = workshop.run("import-model", dataset.id, **spec, **sent)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)
