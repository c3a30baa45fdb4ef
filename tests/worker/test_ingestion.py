"""Ingestion of uploads: the dataset becomes ready, or invalid with a problem."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from core.data import read_parquet, synthetic_dataset, write_letor
from core.data.options import Columns, ReadingOptions
from core.data.query_index import QueryIndex
from core.errors import JobCancelled, WrongState
from core.jobs import Lane
from core.jobs.ingest import IngestJob
from core.store import Dataset, Job, Store, new_id
from core.store.artifacts.keys import (
    dataset_upload_key,
    features_key,
    new_data_key,
    queries_key,
    query_sizes_key,
)
from tests.purging import purge
from tests.servers.fixtures import artifact_keys
from worker import WorkerSettings
from worker.job.caches import Caches
from worker.job.part_reading import upload_digest
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.sweeper import Sweeper
from worker.process.tasks import RUNNERS, run_jobs, run_runner

TEXT = "1 qid:1 1:2 2:7\n0 qid:1 1:1 2:7\n2 qid:2 1:3 2:8\n"
BAD_TEXT = "1 qid:1 1:2\n0 qid:1 1:?\n0 qid:1 2:!\n"


@dataclass(frozen=True)
class Uploads:
    """Send uploads to a store, and run their jobs in this process."""

    store: Store
    settings: WorkerSettings

    def send(self, content: bytes | str, sizes: str | None = None, **source: Any) -> tuple[str, str]:
        """Store the content and queue its ingestion; return the ids of dataset and job."""
        content = content.encode() if isinstance(content, str) else content
        dataset_id = new_id("ds_")
        self.store.artifacts.write_bytes(dataset_upload_key(dataset_id), content)
        source = {"kind": "upload", "filename": "d.txt", "format": "auto", **source}
        if sizes is not None:
            self.store.artifacts.write_bytes(query_sizes_key(dataset_id), sizes.encode())
            source["query_sizes_filename"] = "d.txt.query"
        with self.store.begin() as tx:
            tx.datasets.add("d", source, dataset_id)
            job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
            tx.datasets.attach_job(dataset_id, job.id)
        return dataset_id, job.id

    def ingest(self, content: bytes | str, sizes: str | None = None, **source: Any) -> Dataset:
        """Send an upload, run its job and return the dataset."""
        dataset_id, _ = self.send(content, sizes, **source)
        run_jobs(self.store, self.settings, StopFlag(), "w1", RUNNERS)
        return self.dataset(dataset_id)

    def generate(self, **parameters: Any) -> Dataset:
        """Record a synthetic dataset with these parameters, run its job and return the dataset."""
        with self.store.begin() as tx:
            dataset_id = tx.datasets.add("d", {"kind": "synthetic", **parameters}).id
            job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
            tx.datasets.attach_job(dataset_id, job.id)
        run_jobs(self.store, self.settings, StopFlag(), "w1", RUNNERS)
        return self.dataset(dataset_id)

    def labels(self, dataset: Dataset) -> Any:
        """Return the stored labels of a dataset."""
        assert dataset.data_key is not None, dataset.problem
        with self.store.artifacts.local(dataset.data_key) as path:
            return read_parquet(path).labels

    def dataset(self, dataset_id: str) -> Dataset:
        """Return the current state of a dataset."""
        with self.store.read() as tx:
            return tx.datasets.get(dataset_id)

    def job(self, job_id: str) -> Job:
        """Return the current state of a job."""
        with self.store.read() as tx:
            return tx.jobs.get(job_id)

    def claim(self) -> JobRun:
        """Claim the next job without running it."""
        run = JobRun.claim_next(self.store, self.settings, RUNNERS, "w1")
        assert run is not None
        return run

    @property
    def artifacts(self) -> list[str]:
        """The keys of all artifacts and of empty folders."""
        return [key for key in artifact_keys(self.settings.storage_url) if key not in ("datasets", "data")]


@pytest.fixture
def uploads(store: Store, settings: WorkerSettings) -> Uploads:
    """Uploads to an empty store."""
    return Uploads(store, settings)


def test_an_upload_becomes_a_ready_dataset(uploads: Uploads, store: Store) -> None:
    """The Parquet file, query index and feature profiles are stored, and the upload is deleted."""
    dataset = uploads.ingest(TEXT)
    assert dataset.status == "ready"
    assert dataset.statistics is not None
    assert dataset.statistics["documents"] == 3
    assert dataset.source["format"] == "letor"
    assert dataset.data_key is not None
    with store.artifacts.local(dataset.data_key) as path:
        assert read_parquet(path).matrix.tolist() == [[2, 7], [1, 7], [3, 8]]
    with store.artifacts.local(queries_key(dataset.data_key)) as path:
        assert QueryIndex.read(path).find("2").first_row == 2
    profiles = json.loads(store.artifacts.read_bytes(features_key(dataset.data_key)))
    assert [profile["name"] for profile in profiles] == ["f1", "f2"]
    assert uploads.artifacts == sorted(
        [dataset.data_key, queries_key(dataset.data_key), features_key(dataset.data_key)]
    )


def test_synthetic_data_is_made_by_its_parameters(uploads: Uploads) -> None:
    """Both generators get the parameters of the source, and other parameters yield other content."""
    shape = {"queries": 3, "seed": 1, "polynomial_seed": 2, "documents_per_query": 8, "features": 4}
    dense = uploads.generate(**shape, noise=0.5, gains=[0, 3, 7, 15, 31])
    sparse = uploads.generate(**shape, generator="sparse", relevant_per_query=3)
    expected = synthetic_dataset(3, 1, 2, 8, 4, 0.5, [0, 3, 7, 15, 31])
    assert np.array_equal(uploads.labels(dense), expected.labels)
    assert np.add.reduceat(uploads.labels(sparse) > 0, [0, 8, 16]).tolist() == [3, 3, 3]
    assert dense.digest != sparse.digest


def test_findings_come_with_the_dataset(uploads: Uploads) -> None:
    """The findings include scattered queries, which the reader found, and each has a severity."""
    dataset = uploads.ingest("1 qid:1 1:1\n1 qid:2 1:2\n0 qid:1 1:3\n")
    assert dataset.findings is not None
    assert "scattered-queries" in {finding["code"] for finding in dataset.findings}
    assert all(finding["severity"] in ("info", "warning", "error") for finding in dataset.findings)


def test_a_file_with_the_features_of_a_corpus_has_a_finding(uploads: Uploads) -> None:
    """A small file with the 136 features of MSLR-WEB30K has a finding that it is not this corpus."""
    dataset = uploads.ingest("2 qid:1 1:1 136:3\n0 qid:1 1:2 136:1\n")
    assert dataset.findings is not None
    assert "corpus-not-as-printed" in {finding["code"] for finding in dataset.findings}


def test_the_options_of_the_upload_are_followed(uploads: Uploads) -> None:
    """The options include feature names and the handling of scattered queries."""
    named = uploads.ingest(TEXT, options={"feature_names": {"1": "bm25"}})
    assert named.data_key is not None
    with uploads.store.artifacts.local(named.data_key) as path:
        assert read_parquet(path).feature_names == ("bm25", "f2")
    refused = uploads.ingest(
        "1 qid:1 1:1\n1 qid:2 1:2\n0 qid:1 1:3\n", options={"non_contiguous_queries": "error"}
    )
    assert refused.status == "invalid"


def test_a_side_file_gives_the_queries(uploads: Uploads) -> None:
    """LightGBM keeps query sizes in a separate file."""
    dataset = uploads.ingest("1 0:2\n0 0:1\n2 0:3\n", sizes="2\n1\n")
    assert dataset.statistics is not None
    assert dataset.statistics["queries"] == 2
    other = uploads.ingest("1 0:2\n0 0:1\n2 0:3\n", sizes="1\n2\n")
    assert other.digest != dataset.digest
    wrong = uploads.ingest("1 0:2\n0 0:1\n2 0:3\n", sizes="2\n2\n")
    assert wrong.problem is not None
    assert not [key for key in uploads.artifacts if key.startswith("datasets")]


def test_a_synthetic_dataset_is_generated(uploads: Uploads) -> None:
    """Two datasets with the same parameters share their stored content."""
    parameters = {"queries": 5, "seed": 1, "polynomial_seed": 2}
    first, second = (uploads.generate(**parameters) for _ in range(2))
    assert (first.status, first.source) == ("ready", {"kind": "synthetic", **parameters})
    assert first.data_key == second.data_key


def test_the_same_content_is_stored_once(uploads: Uploads) -> None:
    """The second upload shares the stored content of the first; it is deleted with the last dataset."""
    first = uploads.ingest(TEXT)
    before = uploads.artifacts
    dataset_id, job_id = uploads.send(TEXT)
    run_jobs(uploads.store, uploads.settings, StopFlag(), "w1", RUNNERS)
    second = uploads.dataset(dataset_id)
    assert uploads.artifacts == before
    for name in ("status", "data_key", "digest", "statistics", "findings", "source"):
        assert getattr(second, name) == getattr(first, name)
    assert uploads.job(job_id).status == "succeeded"
    removed = []
    for dataset in (first, second):
        with uploads.store.begin() as tx:
            removed += purge(tx, "dataset", dataset.id)
    for folder in removed:
        uploads.store.artifacts.delete(folder)
    assert uploads.artifacts == []


def test_a_known_content_is_not_read_again(uploads: Uploads) -> None:
    """If the checksum of the upload is known, its bytes are not read."""
    first = uploads.ingest(TEXT)
    dataset_id, _ = uploads.send("not what its checksum says")
    with uploads.store.begin() as tx:
        tx.datasets.get(dataset_id).sha256 = sha256(TEXT.encode()).hexdigest()
    run_jobs(uploads.store, uploads.settings, StopFlag(), "w1", RUNNERS)
    assert uploads.dataset(dataset_id).data_key == first.data_key


def test_the_digest_of_stored_content_does_not_change() -> None:
    """New options do not change the digests of uploads without these options."""
    digest = upload_digest("0" * 64, None, ReadingOptions())
    assert digest == "2d824becfedfb2370eb69464e13105d46fb25d846dd1d3fa34c2723658a29099"
    for columns in (Columns(categorical_features=("brand",)), Columns(query_text="search")):
        assert upload_digest("0" * 64, None, ReadingOptions(columns=columns)) != digest


@pytest.mark.parametrize("options", [{"feature_names": {"1": "bm25"}}, {"repeated_features": "reject"}])
def test_other_options_make_another_content(uploads: Uploads, options: dict[str, Any]) -> None:
    """The digest includes the reading options."""
    first, second = uploads.ingest(TEXT), uploads.ingest(TEXT, options=options)
    assert first.data_key != second.data_key


def test_parallel_ingestions_of_the_same_content_keep_one_copy(uploads: Uploads) -> None:
    """Later ingestions use the stored copy of the first one, and remove the other copies."""
    sent = [uploads.send(TEXT) for _ in range(3)]
    runs = [uploads.claim() for _ in sent]
    threads = [threading.Thread(target=run_runner, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    datasets = [uploads.dataset(dataset_id) for dataset_id, _ in sent]
    assert {dataset.status for dataset in datasets} == {"ready"}
    assert len({dataset.data_key for dataset in datasets}) == 1
    assert len(uploads.artifacts) == 3


def test_an_upload_that_cannot_be_read_leaves_its_problems(uploads: Uploads) -> None:
    """The dataset and the job have all problems with their places, and no bytes are kept."""
    dataset = uploads.ingest(BAD_TEXT)
    assert dataset.status == "invalid"
    assert dataset.problem is not None
    assert [(error["file"], error["line"]) for error in dataset.problem["errors"]] == [
        ("d.txt", 2),
        ("d.txt", 3),
    ]
    assert dataset.problem["more"] is False
    assert dataset.job_id is not None
    assert uploads.job(dataset.job_id).problem == dataset.problem
    assert (dataset.statistics, dataset.findings, dataset.data_key) == (None, None, None)
    assert uploads.artifacts == []


def test_an_upload_is_kept_if_a_column_may_be_ignored(uploads: Uploads) -> None:
    """The upload is kept until it is read without the column; mistakes are counted by cause and column."""
    text = "label,qid,x,price\n" + "1,a,2,3\n0,a,3,free\n1,a,3,4\n" * 400
    dataset = uploads.ingest(text)
    assert dataset.problem is not None
    (cause,) = dataset.problem["causes"]
    assert (cause["title"], cause["column"], cause["count"]) == ("Not a number", "price", 400)
    assert (cause["lines"][:2], cause["texts"], cause["can_ignore"]) == ([3, 6], ["free"], True)
    assert (len(dataset.problem["errors"]), dataset.problem["more"]) == (100, True)
    assert uploads.artifacts == [dataset_upload_key(dataset.id)]
    with uploads.store.begin() as tx:
        again = tx.datasets.read_again(dataset.id, {"columns": {"ignore": ["price"]}})
        job = tx.enqueue(IngestJob(dataset_id=again.id))
        tx.datasets.attach_job(again.id, job.id)
    run_jobs(uploads.store, uploads.settings, StopFlag(), "w1", RUNNERS)
    dataset = uploads.dataset(dataset.id)
    assert (dataset.status, dataset.problem, dataset.job_id) == ("ready", None, job.id)
    assert not uploads.store.artifacts.exists(dataset_upload_key(dataset.id))
    with pytest.raises(WrongState), uploads.store.begin() as tx:
        tx.datasets.read_again(dataset.id, {})


def test_an_upload_without_labels_is_not_kept(uploads: Uploads) -> None:
    """The columns of labels and queries cannot be ignored."""
    dataset = uploads.ingest("label,qid,x\nx,a,2\n1,,3\n")
    assert dataset.problem is not None
    assert [(cause["column"], cause["can_ignore"]) for cause in dataset.problem["causes"]] == [
        ("label", False),
        ("qid", False),
    ]
    assert uploads.artifacts == []


def test_a_cancelled_ingestion_leaves_nothing(uploads: Uploads) -> None:
    """Neither the upload nor partial artifacts are left."""
    dataset_id, job_id = uploads.send(TEXT)
    run = uploads.claim()
    with uploads.store.begin() as tx:
        tx.jobs.request_cancel(job_id)
    with pytest.raises(JobCancelled):
        run_runner(run)
    run.artifacts.discard()
    run.cancel()
    assert uploads.dataset(dataset_id).status == "invalid"
    assert uploads.artifacts == []


def test_a_cancel_while_storing_leaves_nothing(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job can be cancelled between any two blocks of rows that it writes."""
    _, job_id = uploads.send(TEXT)
    run = uploads.claim()
    writing = run.artifacts.writing

    @contextmanager
    def cancelled_while_writing(path: str) -> Iterator[BinaryIO]:
        with writing(path) as file:
            with uploads.store.begin() as tx:
                tx.jobs.request_cancel(job_id)
            yield file

    monkeypatch.setattr(run.artifacts, "writing", cancelled_while_writing)
    with pytest.raises(JobCancelled):
        run_runner(run)
    run.artifacts.discard()
    run.cancel()
    assert uploads.artifacts == []


def large_upload(uploads: Uploads, tmp_path: Path, copies: int) -> tuple[str, str]:
    """Send a file that takes seconds to read."""
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        write_letor(synthetic_dataset(300, seed=1, documents_per_query=100), file)
    lines = path.read_bytes()
    content = b"".join(lines.replace(b"qid:", b"qid:%d." % copy) for copy in range(copies))
    return uploads.send(content)


@pytest.mark.long
def test_reading_reports_progress_and_can_be_cancelled(uploads: Uploads, tmp_path: Path) -> None:
    """The percentage is reported while the file is read, and a cancellation ends the reading."""
    dataset_id, job_id = large_upload(uploads, tmp_path, copies=8)
    thread = threading.Thread(
        target=run_jobs, args=(uploads.store, uploads.settings, StopFlag(), "w1", RUNNERS)
    )
    thread.start()
    seen: list[dict[str, Any]] = []
    while thread.is_alive() and not any(0 < progress["iteration"] < 100 for progress in seen):
        time.sleep(0.02)
        if (progress := uploads.job(job_id).progress) is not None:
            seen.append(progress)
    with uploads.store.begin() as tx:
        tx.jobs.request_cancel(job_id)
    thread.join()
    assert seen[-1]["phase"] == "reading"
    assert seen[-1]["total"] == 100
    job = uploads.job(job_id)
    assert job.status == "cancelled"
    assert job.progress is not None
    assert job.progress["phase"] == "reading"
    assert job.progress["iteration"] < 100
    assert uploads.dataset(dataset_id).status == "invalid"
    assert uploads.artifacts == []


def die_while_storing(uploads: Uploads) -> None:
    """Leave the state of a worker that is killed during an ingestion."""
    run = uploads.claim()
    with run.artifacts.writing(new_data_key(run.id, run.lease.token)) as file:
        file.write(b"half of it")


def sweep_after_silent_lease(settings: WorkerSettings) -> None:
    """Sweep, and sweep again after a lease without a heartbeat."""
    now = 0.0
    sweeper = Sweeper(settings, "host:1", Lane.QUICK, lambda: now)
    sweeper.sweep()
    now = settings.lease_seconds
    sweeper.sweep()


def test_the_next_attempt_clears_up_after_a_dead_worker(uploads: Uploads) -> None:
    """The partial artifacts of a dead worker are removed, and the upload is read again."""
    dataset_id, _ = uploads.send(TEXT)
    die_while_storing(uploads)
    sweep_after_silent_lease(uploads.settings)
    run_jobs(uploads.store, uploads.settings, StopFlag(), "w2", RUNNERS)
    dataset = uploads.dataset(dataset_id)
    assert dataset.status == "ready"
    assert dataset.data_key is not None
    assert len(uploads.artifacts) == 3
    assert dataset.data_key in uploads.artifacts


def test_a_job_without_attempts_left_leaves_nothing(uploads: Uploads) -> None:
    """The sweep that fails a job finally removes the upload and the partial artifacts."""
    dataset_id, job_id = uploads.send(TEXT)
    die_while_storing(uploads)
    sweep_after_silent_lease(uploads.settings.model_copy(update={"attempts": 1}))
    assert uploads.job(job_id).status == "failed"
    assert uploads.dataset(dataset_id).status == "invalid"
    assert uploads.artifacts == []


def test_a_job_handed_back_keeps_its_upload(uploads: Uploads) -> None:
    """A worker that shuts down keeps the upload for the next worker."""
    dataset_id, _ = uploads.send(TEXT)
    run = uploads.claim()
    run.release()
    run_jobs(uploads.store, uploads.settings, StopFlag(), "w1", RUNNERS)
    assert uploads.dataset(dataset_id).status == "ready"


def test_arrays_are_cached_for_the_next_job(uploads: Uploads) -> None:
    """The ingested arrays are cached under the digest of the dataset."""
    dataset = uploads.ingest(TEXT)
    assert dataset.digest is not None
    mapped = Caches.of(uploads.settings).dataset(dataset.digest)
    assert mapped is not None
    np.testing.assert_array_equal(mapped.features, np.array([[2, 7], [1, 7], [3, 8]], np.float32))


def test_an_upload_with_too_many_documents_is_invalid(uploads: Uploads) -> None:
    """The worker's limit of documents applies to uploads."""
    small = Uploads(uploads.store, uploads.settings.model_copy(update={"max_documents": 2}))
    assert small.ingest(TEXT).status == "invalid"
