"""Datasets of several files in data roots, which workers read in place."""

import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import read_parquet
from core.store import Dataset, Store
from core.store.artifacts.keys import features_key, queries_key
from core.store.data_files import DataFiles
from tests.servers import S3Server
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings

N_PARTS = 4


def judged_table(n_rows: int = 400) -> pa.Table:
    """Return rows of 40 queries, some of which cross the boundaries of quarters."""
    random = np.random.default_rng(1)
    queries = [f"q{query}" for query in np.sort(random.integers(0, 40, n_rows))]
    return pa.table(
        {
            "query_id": queries,
            "label": random.integers(0, 5, n_rows),
            **{f"x{number}": random.normal(size=n_rows) for number in range(5)},
            "brand": random.choice(["acme", "zenith", "orion"], n_rows),
            "market": [f"m{int(query[1:]) % 3}" for query in queries],
        }
    )


def write_parts(folder: Path, whole: pa.Table) -> list[Path]:
    """Write a whole table, and its four parts in a separate folder."""
    (folder / "parts").mkdir(parents=True)
    pq.write_table(whole, folder / "whole.parquet")
    paths = [folder / "parts" / f"part-{number}.parquet" for number in range(N_PARTS)]
    size = len(whole) // N_PARTS
    for number, path in enumerate(paths):
        pq.write_table(whole.slice(number * size, size), path)
    return paths


OPTIONS = {"columns": {"categorical_features": ["brand"]}}


class Corpus:
    """A data root with judged files, and a worker that reads from it."""

    def __init__(self, root: Path | str, store: Store, settings: WorkerSettings) -> None:
        self.root = root
        self.inline_worker = InlineWorker(store, settings.model_copy(update={"data_roots": [root]}))
        self.files = DataFiles([root], 5.0)

    @property
    def store(self) -> Store:
        """The store of the worker."""
        return self.inline_worker.store

    def source(self, folder: str, pattern: str = "part-*.parquet", **options: Any) -> dict[str, Any]:
        """Return the source as the API records it."""
        files = self.files.find(folder, pattern)
        names: Sequence[str] = list(files.names)
        source = {"kind": "folder", "folder": files.folder, "files": pattern, "filenames": names}
        return {**source, "format": "auto", "options": options or OPTIONS}

    def ingest(self, source: dict[str, Any]) -> Dataset:
        """Add a dataset with this source, run its job and return the dataset."""
        with self.store.begin() as tx:
            dataset_id = tx.datasets.add("d", source).id
            job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
            tx.datasets.attach_job(dataset_id, job.id)
        self.inline_worker.run_queued(job.id)
        with self.store.read() as tx:
            return tx.datasets.get(dataset_id)

    def stored(self, dataset: Dataset) -> list[bytes]:
        """Return the stored files of a dataset."""
        assert dataset.status == "ready", dataset.problem
        key = dataset.data_key
        assert key is not None
        return [self.store.artifacts.read_bytes(each) for each in (key, queries_key(key), features_key(key))]


@pytest.fixture
def corpus(store: Store, settings: WorkerSettings, tmp_path: Path) -> Corpus:
    """A root with a whole file and its parts."""
    write_parts(tmp_path / "corpora" / "clicks", judged_table())
    return Corpus(tmp_path / "corpora", store, settings)


def assert_equals_whole(corpus: Corpus, parts: Dataset, whole: Dataset) -> None:
    """Assert that two datasets are stored alike, except for their digests, which depend on the files."""
    assert corpus.stored(parts) == corpus.stored(whole)
    assert (parts.statistics, parts.findings) == (whole.statistics, whole.findings)
    assert parts.digest != whole.digest


def test_four_files_equal_the_whole(corpus: Corpus) -> None:
    """The stored bytes, statistics and findings equal those of one file with all rows."""
    parts = corpus.ingest(corpus.source("clicks/parts"))
    whole = corpus.ingest(corpus.source("clicks", "whole.parquet"))
    assert_equals_whole(corpus, parts, whole)
    with corpus.store.artifacts.open(parts.data_key or "") as file:
        assert read_parquet(file).n_queries == 40


def test_a_pattern_of_one_file_is_that_file(corpus: Corpus) -> None:
    """A pattern that matches one file yields the same dataset as the name of the file."""
    source = corpus.source("clicks", "whole.parquet")
    single = {"kind": "folder", "folder": "clicks", "filename": "whole.parquet", "format": "auto"}
    by_name = corpus.ingest({**single, "options": OPTIONS})
    assert corpus.ingest(source).data_key == by_name.data_key


def test_equal_files_are_stored_once(corpus: Corpus) -> None:
    """The digest depends on the order of the files, but not on their names."""
    first = corpus.ingest(corpus.source("clicks/parts"))
    source = corpus.source("clicks/parts")
    renamed = Path(corpus.root) / "clicks" / "renamed"
    renamed.mkdir()
    for number, name in enumerate(source["filenames"]):
        (renamed / f"{number}.parquet").hardlink_to(Path(corpus.root) / "clicks" / "parts" / name)
    assert corpus.ingest(corpus.source("clicks/renamed", "*")).data_key == first.data_key
    source["filenames"].reverse()
    assert corpus.ingest(source).digest != first.digest


def test_a_missing_file_is_named(corpus: Corpus) -> None:
    """A file that the request listed and that was deleted is named in the problem."""
    source = corpus.source("clicks/parts")
    (Path(corpus.root) / "clicks" / "parts" / "part-2.parquet").unlink()
    problem = corpus.ingest(source).problem
    assert problem is not None
    assert "part-2.parquet: expected a file below RANKERY_DATA_ROOTS" in problem["detail"]


def test_an_invalid_file_is_named(corpus: Corpus) -> None:
    """The problem has the file, the row and the column."""
    path = Path(corpus.root) / "clicks" / "parts" / "part-1.parquet"
    table = pq.read_table(path)
    labels = [1.0] * 7 + [float("inf")] + [1.0] * (len(table) - 8)
    pq.write_table(table.set_column(1, "label", pa.array(labels)), path)
    dataset = corpus.ingest(corpus.source("clicks/parts"))
    assert dataset.status == "invalid"
    assert dataset.problem is not None
    (error,) = dataset.problem["errors"]
    assert (error["file"], error["line"], error["column"]) == ("part-1.parquet", 8, "label")


@pytest.mark.long
def test_reading_reports_progress_and_can_be_cancelled(corpus: Corpus) -> None:
    """The percentage increases over all files, and a cancellation ends the reading."""
    folder = Path(corpus.root) / "large"
    folder.mkdir()
    values = np.random.default_rng(0).random((60_000, 50), np.float32)
    features = {f"x{number}": values[:, number] for number in range(50)}
    queries = {"query_id": np.arange(60_000) // 20, "label": np.arange(60_000) % 3}
    first = folder / "part-0.parquet"
    pq.write_table(pa.table({**queries, **features}), first)
    for number in range(1, 12):
        shutil.copy(first, folder / f"part-{number}.parquet")
    source = corpus.source("large", columns={"features": list(features)})
    with corpus.store.begin() as tx:
        dataset_id = tx.datasets.add("d", source).id
        job_id = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id]).id
        tx.datasets.attach_job(dataset_id, job_id)
    thread = threading.Thread(target=corpus.inline_worker.run_queued, args=(job_id,))
    thread.start()
    seen: list[dict[str, Any]] = []
    while thread.is_alive() and len({progress["iteration"] for progress in seen}) < 3:
        with corpus.store.read() as tx:
            seen += [progress] if (progress := tx.jobs.get(job_id).progress) else []
        time.sleep(0.01)
    with corpus.store.begin() as tx:
        tx.jobs.request_cancel(job_id)
    thread.join()
    percents = [progress["iteration"] for progress in seen if progress["phase"] == "reading"]
    assert percents == sorted(percents)
    assert 0 < percents[-1] < 90
    assert seen[-1]["total"] == 100
    with corpus.store.read() as tx:
        assert tx.jobs.get(job_id).status == "cancelled"
        assert tx.datasets.get(dataset_id).status == "invalid"


@pytest.mark.long
class TestBuckets:
    """Files of a bucket."""

    @pytest.fixture
    def bucket(self, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
        """A folder of a bucket, and the credentials in the environment."""
        url, environment = s3.new_bucket()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return url

    @pytest.fixture
    def corpus(self, bucket: str, store: Store, settings: WorkerSettings, tmp_path: Path) -> Corpus:
        """A root with a whole file and its parts."""
        write_parts(tmp_path / "clicks", judged_table())
        files = fsspec.filesystem("s3", skip_instance_cache=True)
        files.put(str(tmp_path / "clicks"), f"{bucket}/clicks", recursive=True)
        return Corpus(bucket, store, settings)

    def test_four_objects_equal_the_whole(self, corpus: Corpus, bucket: str) -> None:
        """The stored bytes, statistics and findings equal those of one object with all rows."""
        parts = corpus.ingest(corpus.source(f"{bucket}/clicks/parts"))
        whole = corpus.ingest(corpus.source(f"{bucket}/clicks", "whole.parquet"))
        assert_equals_whole(corpus, parts, whole)

    def test_an_absent_object_is_named(self, corpus: Corpus, bucket: str) -> None:
        """An object that the request listed and that was deleted is named in the problem."""
        source = corpus.source(f"{bucket}/clicks/parts")
        fsspec.filesystem("s3", skip_instance_cache=True).rm(f"{bucket}/clicks/parts/part-3.parquet")
        problem = corpus.ingest(source).problem
        assert problem is not None
        assert "part-3.parquet: expected an object below RANKERY_DATA_ROOTS" in problem["detail"]

    def test_nothing_outside_the_roots_is_read(self, corpus: Corpus, bucket: str) -> None:
        """A worker without the bucket in its data roots refuses the source that the API recorded."""
        source = corpus.source(f"{bucket}/clicks/parts")
        corpus.inline_worker.settings.data_roots.clear()
        dataset = corpus.ingest(source)
        assert dataset.status == "invalid"
        assert "expected an object below RANKERY_DATA_ROOTS" in str(dataset.problem)
