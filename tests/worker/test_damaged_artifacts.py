"""Damaged artifacts: no job uses them, and intact copies replace them."""

import hashlib
import io

import pytest

from core.data import synthetic_dataset, write_letor
from core.store import Dataset, Store, new_id
from core.store.artifacts.keys import (
    data_folder,
    dataset_upload_key,
    features_key,
    model_key,
    model_upload_key,
    queries_key,
    ranking_key,
)
from tests.checksums import checksums_under
from tests.purging import purge
from tests.servers.fixtures import artifact_keys
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings

SMALL = synthetic_dataset(30, seed=1, documents_per_query=10, n_features=4)
DAMAGED = "Stored bytes damaged"


@pytest.fixture
def inline_worker(store: Store, settings: WorkerSettings) -> InlineWorker:
    """A worker without caches, which writes only the first and the last report of a job."""
    without_caches = {"array_cache_bytes": 0, "binned_cache_bytes": 0, "report_seconds": 3600.0}
    return InlineWorker(store, settings.model_copy(update=without_caches))


@pytest.fixture
def content() -> bytes:
    """A file to upload."""
    file = io.BytesIO()
    write_letor(SMALL, file)
    return file.getvalue()


def upload(inline_worker: InlineWorker, content: bytes) -> Dataset:
    """Upload a file, and return its dataset."""
    dataset_id = new_id("ds_")
    inline_worker.store.artifacts.write_bytes(dataset_upload_key(dataset_id), content)
    with inline_worker.store.begin() as tx:
        sha256 = hashlib.sha256(content).hexdigest()
        tx.datasets.add("d", {"kind": "upload", "format": "auto"}, dataset_id, sha256=sha256)
        job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
    assert inline_worker.run_queued(job.id).status == "succeeded"
    return inline_worker.dataset(dataset_id)


def key_of(dataset: Dataset) -> str:
    """Return the key of a dataset's Parquet file."""
    assert dataset.data_key is not None
    return dataset.data_key


def alter(store: Store, key: str) -> bytes:
    """Alter the byte in the middle of an artifact; return the original content."""
    content = store.artifacts.read_bytes(key)
    middle = len(content) // 2
    store.artifacts.write_bytes(key, content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    return content


def damaged(store: Store) -> list[str]:
    """List the artifacts that are recorded as damaged."""
    with store.read() as tx:
        return tx.artifacts.damaged(99)


@pytest.mark.long
def test_a_training_on_altered_parquet_fails(inline_worker: InlineWorker, content: bytes) -> None:
    """The job fails and names the artifact; after the content is restored, the next job succeeds."""
    dataset = upload(inline_worker, content)
    good = alter(inline_worker.store, key_of(dataset))
    job = inline_worker.train(dataset.id)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)
    assert job.problem is not None
    assert key_of(dataset) in job.problem["detail"]
    assert damaged(inline_worker.store) == [dataset.data_key]
    inline_worker.store.artifacts.write_bytes(key_of(dataset), good)
    assert inline_worker.train(dataset.id).status == "succeeded"
    assert damaged(inline_worker.store) == []


def test_a_cached_dataset_is_used_while_its_parquet_is_damaged(
    store: Store, settings: WorkerSettings, content: bytes
) -> None:
    """Cached content was verified when it was cached."""
    inline_worker = InlineWorker(store, settings)
    dataset = upload(inline_worker, content)
    alter(store, key_of(dataset))
    assert inline_worker.train(dataset.id).status == "succeeded"


def test_an_evaluation_of_an_altered_model_fails(inline_worker: InlineWorker, content: bytes) -> None:
    """The model is verified before the job uses it."""
    dataset = upload(inline_worker, content)
    model_id = inline_worker.training_result(dataset.id)["model_id"]
    alter(inline_worker.store, model_key(model_id))
    job = inline_worker.run("evaluate", dataset.id, model_id=model_id, metrics=["ndcg@5"])
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


def test_an_evaluation_of_an_altered_ranking_fails(inline_worker: InlineWorker, content: bytes) -> None:
    """Stored results are also verified before jobs use them."""
    dataset = upload(inline_worker, content)
    model_id = inline_worker.training_result(dataset.id)["model_id"]
    ranked = inline_worker.run("rank", dataset.id, model_id=model_id)
    assert ranked.result is not None
    ranking_id = ranked.result["ranking_id"]
    alter(inline_worker.store, ranking_key(ranking_id))
    job = inline_worker.run("evaluate", dataset.id, ranking_id=ranking_id, system="run", metrics=["ndcg@5"])
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


@pytest.mark.parametrize(
    ("how", "name"),
    [
        *(("altered", name) for name in ("data", "queries", "features")),
        ("gone", "data"),
        *(pytest.param("gone", name, marks=pytest.mark.slow) for name in ("queries", "features")),
    ],
)
def test_another_upload_repairs_all_datasets_with_the_same_content(
    inline_worker: InlineWorker, content: bytes, how: str, name: str
) -> None:
    """All datasets use the content of the new upload, and the damaged copy is removed."""
    first, second = upload(inline_worker, content), upload(inline_worker, content)
    damaged_key = key_of(first)
    assert damaged_key == second.data_key
    key = {"data": damaged_key, "queries": queries_key(damaged_key), "features": features_key(damaged_key)}
    if how == "altered":
        alter(inline_worker.store, key[name])
    else:
        inline_worker.store.artifacts.delete(key[name])
    third = upload(inline_worker, content)
    assert third.data_key != damaged_key
    assert {inline_worker.dataset(dataset.id).data_key for dataset in (first, second)} == {third.data_key}
    assert damaged(inline_worker.store) == []
    folders = {
        data_folder(k) for k in artifact_keys(inline_worker.settings.storage_url) if k.startswith("data/")
    }
    assert folders == {data_folder(key_of(third))}
    assert inline_worker.train(first.id).status == "succeeded"


def test_checksums_are_deleted_with_their_artifacts(inline_worker: InlineWorker, content: bytes) -> None:
    """Deleted datasets leave no records of artifacts."""
    dataset = upload(inline_worker, content)
    with inline_worker.store.begin() as tx:
        assert len(checksums_under(tx, data_folder(key_of(dataset)))) == 3
        purge(tx, "dataset", dataset.id)
        assert checksums_under(tx, "data/") == []


def test_a_file_without_a_checksum_gets_one_when_it_is_read(inline_worker: InlineWorker) -> None:
    """After the first use, the file is verified like any other."""
    dataset_id = inline_worker.add(SMALL, "old")
    assert inline_worker.train(dataset_id).status == "succeeded"
    alter(inline_worker.store, "data/old/data.parquet")
    job = inline_worker.train(dataset_id)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)


@pytest.mark.long
@pytest.mark.usefixtures("tried_here")
def test_another_import_of_a_model_repairs_its_copies(inline_worker: InlineWorker, content: bytes) -> None:
    """An import of the same text with another name replaces the damaged copy."""
    dataset = upload(inline_worker, content)
    model_id = inline_worker.training_result(dataset.id)["model_id"]
    good = alter(inline_worker.store, model_key(model_id))
    inline_worker.store.artifacts.write_bytes(model_upload_key("mup_1"), good)
    spec = {"upload_id": "mup_1", "model_name": "copy", "description": None, "tags": None}
    sent = {"sha256": hashlib.sha256(good).hexdigest(), "size_bytes": len(good), "filename": "model.txt"}
    job = inline_worker.run("import-model", dataset.id, **spec, **sent)
    assert job.status == "succeeded", job.problem
    assert inline_worker.store.artifacts.read_bytes(model_key(model_id)) == good
    assert damaged(inline_worker.store) == []


@pytest.mark.long
@pytest.mark.usefixtures("tried_here")
def test_a_model_altered_before_its_import_is_refused(inline_worker: InlineWorker, content: bytes) -> None:
    """An upload whose content does not match its checksum is refused."""
    dataset = upload(inline_worker, content)
    good = inline_worker.store.artifacts.read_bytes(
        model_key(inline_worker.training_result(dataset.id)["model_id"])
    )
    altered = good + b"\n"
    inline_worker.store.artifacts.write_bytes(model_upload_key("mup_1"), altered)
    spec = {"upload_id": "mup_1", "model_name": "copy", "description": None, "tags": None}
    sent = {"sha256": hashlib.sha256(good).hexdigest(), "size_bytes": len(good), "filename": "model.txt"}
    job = inline_worker.run("import-model", dataset.id, **spec, **sent)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", DAMAGED)
