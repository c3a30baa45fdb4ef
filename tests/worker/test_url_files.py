"""Datasets of remote files, which workers download and read."""

import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fsspec
import pyarrow.parquet as pq
import pytest

from core.store import Dataset, Job, Store
from tests.servers import S3Server
from tests.servers.web import WebFile, WebServer
from tests.worker.inline_worker import InlineWorker
from tests.worker.test_folder_files import judged_table, write_parts
from worker import WorkerSettings

pytestmark = pytest.mark.long

OPTIONS = {"columns": {"categorical_features": ["brand"]}}


class Imports:
    """A worker with permitted source URLs."""

    def __init__(self, store: Store, settings: WorkerSettings, **changed: Any) -> None:
        self.inline_worker = InlineWorker(store, settings.model_copy(update=changed))
        self.store = store

    def queue(self, *urls: str, max_bytes: int | None = None, **source: Any) -> tuple[str, str]:
        """Record a dataset of URLs as the API does; return its id and that of its job."""
        with self.store.begin() as tx:
            defaults = {"kind": "address", "format": "auto", "options": OPTIONS}
            recorded = {**defaults, "addresses": list(urls), **source}
            dataset_id = tx.datasets.add("d", recorded).id
            spec = {"dataset_id": dataset_id, "max_bytes": max_bytes}
            job_id = tx.jobs.add("ingest", spec, [dataset_id]).id
            tx.datasets.attach_job(dataset_id, job_id)
        return dataset_id, job_id

    def read(self, *urls: str, **source: Any) -> Dataset:
        """Import a dataset and return it."""
        dataset_id, job_id = self.queue(*urls, **source)
        self.inline_worker.run_queued(job_id)
        return self.dataset(dataset_id)

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset."""
        with self.store.read() as tx:
            return tx.datasets.get(dataset_id)

    def job(self, job_id: str) -> Job:
        """Return a job."""
        with self.store.read() as tx:
            return tx.jobs.get(job_id)

    def stored(self, dataset: Dataset) -> bytes:
        """Return the stored bytes of a dataset."""
        assert dataset.status == "ready", dataset.problem
        return self.store.artifacts.read_bytes(str(dataset.data_key))

    def downloads(self) -> list[Path]:
        """Return the files in the folder of downloads."""
        folder = self.inline_worker.settings.data_dir / "cache" / "downloads"
        return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a whole file and its parts, which yield the same dataset."""
    write_parts(tmp_path / "clicks", judged_table())
    return tmp_path / "clicks"


def problem_of(dataset: Dataset) -> str:
    """Return the reason why a dataset is invalid."""
    assert dataset.status == "invalid"
    assert dataset.problem is not None
    return str(dataset.problem["detail"])


class TestBuckets:
    """Objects of an S3 server."""

    @pytest.fixture
    def bucket(self, s3: S3Server, monkeypatch: pytest.MonkeyPatch, files: Path) -> str:
        """A folder of a bucket with the files, and the credentials in the environment."""
        url, environment = s3.new_bucket()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        fsspec.filesystem("s3", skip_instance_cache=True).put(str(files), f"{url}/clicks", recursive=True)
        return url

    @pytest.fixture
    def imports(self, store: Store, settings: WorkerSettings, bucket: str) -> Imports:
        """A worker that may read the folder."""
        return Imports(store, settings, sources=[f"{bucket}/clicks"])

    def test_an_object_is_read(self, imports: Imports, bucket: str, files: Path) -> None:
        """The source records the object that was read."""
        dataset = imports.read(f"{bucket}/clicks/whole.parquet")
        assert imports.stored(dataset)
        (read,) = dataset.source["read"]
        content = (files / "whole.parquet").read_bytes()
        assert read["address"] == f"{bucket}/clicks/whole.parquet"
        assert (read["size_bytes"], dataset.size_bytes) == (len(content), len(content))
        assert read["sha256"] == dataset.sha256
        assert set(read) == {"address", "size_bytes", "sha256", "etag", "last_modified"}
        assert dataset.source["format"] == "parquet"
        assert imports.downloads() == []

    def test_a_pattern_reads_all_matching_objects(self, imports: Imports, bucket: str) -> None:
        """A pattern, a list of URLs and a folder with one file yield the same dataset."""
        whole = imports.read(f"{bucket}/clicks/whole.parquet")
        parts = imports.read(f"{bucket}/clicks/parts", files="part-*.parquet")
        assert imports.stored(parts) == imports.stored(whole)
        assert [read["address"][-14:] for read in parts.source["read"]] == [
            f"part-{number}.parquet" for number in range(4)
        ]
        named = imports.read(*(f"{bucket}/clicks/parts/part-{number}.parquet" for number in range(4)))
        assert named.digest == parts.digest
        assert imports.read(f"{bucket}/clicks").digest == whole.digest

    def test_an_unreadable_url_is_named(
        self, imports: Imports, bucket: str, store: Store, settings: WorkerSettings
    ) -> None:
        """The problem of the dataset names the URL and the solution."""
        assert "expected a file at" in problem_of(imports.read(f"{bucket}/clicks/none"))
        several = problem_of(imports.read(f"{bucket}/clicks/parts"))
        assert "/files: must name one file" in several
        assert "part-0.parquet" in several
        assert "matches no file" in problem_of(imports.read(f"{bucket}/clicks/parts", files="x*"))
        assert "RANKERY_SOURCES" in problem_of(imports.read(f"{bucket}/private"))
        small = Imports(store, settings, sources=[bucket], source_bytes=1_000)
        assert "at most 1,000 bytes" in problem_of(small.read(f"{bucket}/clicks/whole.parquet"))

    @pytest.mark.embedded  # a store on S3 needs the credentials in the environment
    def test_credentials_are_named(
        self,
        imports: Imports,
        bucket: str,
        s3: S3Server,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The named credentials work without AWS variables; the dataset's source omits their values."""
        for name in s3.environment:
            monkeypatch.delenv(name)
        options = {"key": "rankery", "secret": "5ecret", "endpoint_url": s3.endpoint_url}
        credentials = {"prefixes": [bucket], "options": options}
        monkeypatch.setenv("RANKERY_CREDENTIALS_WAREHOUSE", json.dumps(credentials))
        dataset = imports.read(f"{bucket}/clicks/whole.parquet", credentials="warehouse")
        assert imports.stored(dataset)
        assert "5ecret" not in json.dumps(dataset.source)
        refused = imports.read(f"{bucket}/clicks/whole.parquet", credentials="other")
        assert "RANKERY_CREDENTIALS_OTHER" in problem_of(refused)


class TestWeb:
    """Files of a web server over TLS."""

    @pytest.fixture
    def server(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Path) -> Iterator[WebServer]:
        """A server with the files."""
        with WebServer(tmp_path / "certificates") as server:
            monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))
            for path in files.rglob("*.parquet"):
                server.files[f"/{path.relative_to(files)}"] = WebFile(path.read_bytes())
            yield server

    @pytest.fixture
    def imports(self, store: Store, settings: WorkerSettings, server: WebServer) -> Imports:
        """A worker that may read from the server."""
        return Imports(store, settings, sources=[server.url], outbound_allowed=["localhost"])

    def test_files_are_read(self, imports: Imports, server: WebServer) -> None:
        """One file becomes a dataset, as do several files together."""
        whole = imports.read(f"{server.url}/whole.parquet")
        assert whole.source["read"][0]["etag"] == '"1"'
        assert whole.sha256 == server.files["/whole.parquet"].sha256
        parts = imports.read(*(f"{server.url}/parts/part-{number}.parquet" for number in range(4)))
        assert imports.stored(parts) == imports.stored(whole)
        assert parts.sha256 is None
        assert parts.size_bytes == sum(read["size_bytes"] for read in parts.source["read"])

    def test_a_name_may_have_more_bytes_than_a_file_system_allows(
        self, imports: Imports, server: WebServer
    ) -> None:
        """A hundred characters of Chinese are 300 bytes; the end of the name is kept."""
        path = "/" + quote("\u5546\u54c1" * 50) + ".parquet"
        file = server.files[path] = server.files["/whole.parquet"]
        dataset = imports.read(f"{server.url}{path}")
        assert dataset.status == "ready", dataset.problem
        assert dataset.sha256 == file.sha256

    def test_private_hosts_are_refused(
        self, store: Store, settings: WorkerSettings, server: WebServer
    ) -> None:
        """An allowed prefix does not permit a private host."""
        imports = Imports(store, settings, sources=[server.url])
        assert "localhost" in problem_of(imports.read(f"{server.url}/whole.parquet"))
        assert server.requests == []

    def test_the_quota_of_the_key_bounds_the_size(self, imports: Imports, server: WebServer) -> None:
        """The API stores the limit with the job."""
        problem = problem_of(imports.read(f"{server.url}/whole.parquet", max_bytes=100))
        assert "at most 100 bytes" in problem

    def test_a_download_continues_when_the_server_is_back(
        self, store: Store, settings: WorkerSettings, server: WebServer
    ) -> None:
        """The next attempt of the job continues from the downloaded bytes."""
        settings = settings.model_copy(update={"retry_seconds": 0.0, "storage_patience_seconds": 0.0})
        imports = Imports(store, settings, sources=[server.url], outbound_allowed=["localhost"])
        file = server.files["/whole.parquet"]
        file.cut_after = [5_000]
        file.status = []
        dataset = imports.read(f"{server.url}/whole.parquet")
        assert dataset.sha256 == file.sha256
        assert server.requests[1].headers["range"] == "bytes=5000-"
        assert imports.job(str(dataset.job_id)).attempt == 2

    def test_progress_counts_bytes_and_a_cancelled_download_stops(
        self, imports: Imports, server: WebServer
    ) -> None:
        """A cancelled download ends before its last byte and leaves no files."""
        n_bytes = 60_000_000  # a minute of download
        file = server.files["/large.csv"] = WebFile(random.Random(1).randbytes(n_bytes))
        file.bytes_per_second = 1_000_000
        dataset_id, job_id = imports.queue(f"{server.url}/large.csv")
        thread = threading.Thread(target=imports.inline_worker.run_queued, args=(job_id,))
        thread.start()
        seen: list[dict[str, Any]] = []
        while thread.is_alive() and len({progress["iteration"] for progress in seen}) < 4:
            if progress := imports.job(job_id).progress:
                seen.append(progress)
            time.sleep(0.01)
        with imports.store.begin() as tx:
            tx.jobs.request_cancel(job_id)
        thread.join()
        downloading = [each for each in seen if each["phase"] == "downloading" and each["total"]]
        assert {each["total"] for each in downloading} == {n_bytes}
        job = imports.job(job_id)
        assert job.progress is not None
        assert 0 < job.progress["iteration"] < n_bytes
        assert job.status == "cancelled"
        assert imports.dataset(dataset_id).status == "invalid"
        assert imports.downloads() == []


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[str]:
    """A dataset that ir_datasets reads from local files, with queries, judgments and a run."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset as IrDataset
    from ir_datasets.formats import TrecQrels, TrecScoredDocs, TsvQueries
    from ir_datasets.util import LocalDownload

    (tmp_path / "queries.tsv").write_text('q1\tred "shoes"\nq2\tblue, coat\n')
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 -1\nq1 0 d9 1\nq2 0 d3 1\n")
    (tmp_path / "run").write_text(
        "q1 Q0 d1 1 3.5 r\nq1 Q0 d2 2 2.5 r\nq1 Q0 d4 3 1.5 r\nq2 Q0 d3 1 9 r\nq2 Q0 d4 2 8 r\n"
    )
    queries = TsvQueries(LocalDownload(tmp_path / "queries.tsv"))
    qrels = TrecQrels(LocalDownload(tmp_path / "qrels"), {})
    run = TrecScoredDocs(LocalDownload(tmp_path / "run"))
    registry = ir_datasets.registry
    name = "rankery-test"
    registry.register(name, IrDataset(queries, qrels, run))
    registry.register(f"{name}-judged", IrDataset(queries, qrels))
    registry.register(f"{name}-queries", IrDataset(queries))
    yield name
    for each in (name, f"{name}-judged", f"{name}-queries"):
        del registry._registered[each]


class TestIrDatasets:
    """Datasets of ir_datasets, read from local files."""

    @pytest.fixture
    def imports(self, store: Store, settings: WorkerSettings) -> Imports:
        """A worker that may read all datasets of ir_datasets."""
        return Imports(store, settings, sources=["ir_datasets:"])

    def test_scored_documents_become_a_feature(self, imports: Imports, registered: str) -> None:
        """The dataset has labels and query texts; judged documents without a score are left out."""
        dataset = imports.read(f"ir_datasets:{registered}", options={})
        imports.stored(dataset)
        with imports.store.artifacts.open(str(dataset.data_key)) as file:
            rows = pq.read_table(file).to_pylist()
        with imports.store.read() as tx:
            assert tx.datasets.feature_names_of([dataset.id]) == {dataset.id: ["score"]}
        assert [(row["query_id"], row["document_id"], row["label"], row["f1"]) for row in rows] == [
            *(("q1", "d1", 2, 3.5), ("q1", "d2", 0, 2.5), ("q1", "d4", 0, 1.5)),
            *(("q2", "d3", 1, 9), ("q2", "d4", 0, 8)),
        ]
        assert [row["q1"] for row in rows[2:4]] == ['red "shoes"', "blue, coat"]

    def test_judgments_alone_are_qrels(self, imports: Imports, registered: str) -> None:
        """A dataset without scores becomes TREC qrels."""
        dataset = imports.read(f"ir_datasets:{registered}-judged", options={})
        imports.stored(dataset)
        assert dataset.source["format"] == "trec-qrels"
        assert (dataset.statistics or {})["documents"] == 4

    def test_a_dataset_without_judgments_is_refused(self, imports: Imports, registered: str) -> None:
        """A name that the package does not have is refused, too."""
        problem = problem_of(imports.read(f"ir_datasets:{registered}-queries", options={}))
        assert "it has only queries; name a subset with judgments" in problem
        problem = problem_of(imports.read("ir_datasets:no-such/dataset", options={}))
        assert "the package has no dataset of this id" in problem
