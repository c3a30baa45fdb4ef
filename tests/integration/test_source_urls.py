"""Imports from S3 and HTTPS by processes that are killed half-way, and downloads afterwards."""

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import httpx
import numpy as np
import pytest

from rankery.embedded.stack import EmbeddedStack
from tests.integration.services import QUICK_RECOVERY
from tests.integration.waiting import wait_for
from tests.servers import S3Server, TcpProxy
from tests.servers.fixtures import new_service_places
from tests.servers.web import WebFile, WebServer

pytestmark = pytest.mark.slow  # test_imports.py is the short form

MEBIBYTE = 2**20
# `make test-imports` imports hundreds of megabytes.
SIZE_BYTES = int(os.environ.get("RANKERY_TEST_IMPORT_MIB", "24")) * MEBIBYTE
MAX_GROWTH_BYTES = 64 * MEBIBYTE
_FEATURES = 100
_LIMIT_SECONDS = 60 + SIZE_BYTES / MEBIBYTE

Record = Callable[[str, object], None]
Served = tuple[httpx.Client, EmbeddedStack, WebServer, TcpProxy, str]


def letor_text(size_bytes: int) -> bytes:
    """Return LETOR text of about this size."""
    random = np.random.default_rng(1)
    blocks: list[bytes] = []
    size, query = 0, 0
    while size < size_bytes:
        query += 1
        values = random.random((50, _FEATURES)).round(6).tolist()
        labels = random.integers(0, 5, 50).tolist()
        lines = (
            f"{label} qid:{query} " + " ".join(f"{at}:{value}" for at, value in enumerate(row, 1))
            for label, row in zip(labels, values, strict=True)
        )
        blocks.append(("\n".join(lines) + "\n").encode())
        size += len(blocks[-1])
    return b"".join(blocks)


@pytest.fixture(scope="module")
def content() -> bytes:
    """Content of the file to import."""
    return letor_text(SIZE_BYTES)


@pytest.fixture(scope="module")
def served(
    service_kind: str,
    request: pytest.FixtureRequest,
    s3: S3Server,
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
) -> Iterator[Served]:
    """A service that may read from a web server and a bucket, which hold the file."""
    folder = tmp_path_factory.mktemp("imports")
    # The database is not that of the shared service, whose worker would run the jobs.
    store_arguments = new_service_places(service_kind, folder / "data", request)
    bucket, _ = s3.new_bucket()
    with WebServer(folder / "certificates") as web, TcpProxy(s3.port) as proxy:
        files = fsspec.filesystem("s3", skip_instance_cache=True, **s3.options)
        files.pipe(f"{bucket}/train.txt", content)
        web.files["/train.txt"] = WebFile(content)
        named = {
            "prefixes": [bucket],
            "options": {**s3.options, "endpoint_url": f"http://127.0.0.1:{proxy.port}"},
        }
        environment = {
            **QUICK_RECOVERY,
            **store_arguments.environment,
            **web.environment,
            "RANKERY_SOURCES": f"{web.url},{bucket}",
            "RANKERY_CREDENTIALS_SLOW": str(named).replace("'", '"'),
            "RANKERY_REPORT_SECONDS": "0.05",
        }
        with (
            EmbeddedStack(store_arguments.data_dir, environment=environment) as stack,
            httpx.Client(base_url=stack.url, timeout=60) as client,
        ):
            yield client, stack, web, proxy, bucket


@contextmanager
def memory_of(stack: EmbeddedStack) -> Iterator[list[int]]:
    """Sample the resident memory of the API in a thread; yield the list of sizes in bytes."""
    statm = Path("/proc") / str(stack.processes["api"]) / "statm"

    def size() -> int:
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    sizes, ended = [size()], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            sizes.append(size())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield sizes
    finally:
        ended.set()
        thread.join()


def kill_worker_of(client: httpx.Client, job_id: str) -> None:
    """Kill the process that runs a job."""
    attempt = client.get(f"/v1/jobs/{job_id}").json()["attempts"][-1]
    os.kill(int(attempt["worker"].rpartition("/")[2]), signal.SIGKILL)


def wait_until_ready(client: httpx.Client, dataset: dict[str, Any]) -> dict[str, Any]:
    """Wait until a dataset is ready, and return it."""

    def state() -> dict[str, Any] | None:
        row: dict[str, Any] = client.get(f"/v1/datasets/{dataset['id']}").json()
        return row if row["status"] != "pending" else None

    row: dict[str, Any] = wait_for(state, _LIMIT_SECONDS)
    assert row["status"] == "ready", row["problem"]
    return row


def check_second_attempt(client: httpx.Client, dataset: dict[str, Any], content: bytes) -> None:
    """Check that a dataset has this content, and that the second attempt of its job read it."""
    sha256 = hashlib.sha256(content).hexdigest()
    (read,) = dataset["source"]["read"]
    assert (dataset["sha256"], read["sha256"]) == (sha256, sha256)
    assert dataset["size_bytes"] == len(content)
    job = client.get(f"/v1/jobs/{dataset['job_id']}").json()
    assert [attempt["ending"] for attempt in job["attempts"]][-1] == "succeeded"
    assert len(job["attempts"]) == 2


def test_an_https_download_resumes_after_a_kill(
    served: Served, content: bytes, record_property: Record
) -> None:
    """After a kill of the worker and dropped connections, the dataset has the bytes of the file."""
    client, stack, web, _, _ = served
    file = web.files["/train.txt"]
    file.bytes_per_second = len(content) // 4
    with memory_of(stack) as sizes:
        body = {"source": f"{web.url}/train.txt", "name": "https", "format": "letor"}
        dataset = client.post("/v1/datasets", json=body).json()
        wait_for(lambda: web.sent_bytes > len(content) // 2, _LIMIT_SECONDS)
        kill_worker_of(client, dataset["job_id"])
        # The faults are set after the kill, so that they affect the next attempt, which begins seconds later.
        file.bytes_per_second = 0
        file.cut_after = [len(content) // 10, len(content) // 10]
        dataset = wait_until_ready(client, dataset)
    check_second_attempt(client, dataset, content)
    ranges = [request.headers.get("range") for request in web.requests]
    assert ranges[0] is None
    assert len(ranges) == 4
    assert all(int(span[6:-1]) > len(content) // 4 for span in ranges[1:] if span)
    assert None not in ranges[1:]
    record_property("API grew by MiB", round((max(sizes) - sizes[0]) / MEBIBYTE, 1))
    assert max(sizes) - sizes[0] < MAX_GROWTH_BYTES


def test_an_s3_download_resumes_after_a_kill(served: Served, content: bytes, record_property: Record) -> None:
    """The next attempt reads only the ranges that the killed process did not store."""
    client, stack, _, proxy, bucket = served
    before = proxy.passed_bytes
    with memory_of(stack) as sizes:
        body = {"source": f"{bucket}/train.txt", "credentials": "slow", "name": "s3"}
        dataset = client.post("/v1/datasets", json={**body, "repeated_features": "reject"}).json()
        while proxy.passed_bytes - before < len(content) // 2:
            time.sleep(0.0005)
        proxy.block()
        kill_worker_of(client, dataset["job_id"])
        proxy.unblock()
        dataset = wait_until_ready(client, dataset)
    check_second_attempt(client, dataset, content)
    passed = proxy.passed_bytes - before
    assert passed < len(content) + 16 * MEBIBYTE, "more than the ranges under way was read twice"
    record_property("bytes passed", passed)
    record_property("API grew by MiB", round((max(sizes) - sizes[0]) / MEBIBYTE, 1))
    assert max(sizes) - sizes[0] < MAX_GROWTH_BYTES


def test_downloads_take_limited_memory(served: Served, tmp_path: Path, record_property: Record) -> None:
    """The API's memory grows within a limit in both formats; the files yield the same dataset again."""
    client, stack, _, _, bucket = served
    body = {"source": f"{bucket}/train.txt", "credentials": "slow"}
    dataset = wait_until_ready(client, client.post("/v1/datasets", json=body).json())
    downloaded = {}
    for format_ in ("parquet", "letor"):
        path = tmp_path / f"downloaded.{format_}"
        with memory_of(stack) as sizes:
            download(client, dataset["id"], format_, path)
        growth = max(sizes) - sizes[0]
        record_property(f"{format_} bytes", path.stat().st_size)
        record_property(f"{format_}: API grew by MiB", round(growth / MEBIBYTE, 1))
        assert growth < 2.5 * MAX_GROWTH_BYTES
        with path.open("rb") as file:
            again = client.post("/v1/datasets", files={"file": (path.name, file)}).json()
        again = wait_until_ready(client, again)
        assert again["statistics"] == dataset["statistics"]
        copy = tmp_path / f"again.{format_}"
        download(client, again["id"], "parquet", copy)
        downloaded[format_] = hashlib.sha256(copy.read_bytes()).hexdigest()
    first = hashlib.sha256((tmp_path / "downloaded.parquet").read_bytes()).hexdigest()
    assert downloaded == {"parquet": first, "letor": first}


def download(client: httpx.Client, dataset_id: str, format: str, path: Path) -> None:
    """Download a dataset."""
    url = f"/v1/datasets/{dataset_id}/download"
    with client.stream("GET", url, params={"format": format}) as response, path.open("wb") as file:
        assert response.status_code == 200
        for block in response.iter_raw():
            file.write(block)
