"""Resumable uploads by clients of the tus protocol; the client or the API is killed half-way."""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from rankery.client import Client
from rankery.client.uploads import RESUMABLE_BYTES
from tests.integration.api_process import ApiProcess
from tests.integration.waiting import LIMIT_SECONDS, wait_for
from tests.requirements import skip_without
from tests.servers.fixtures import new_service_places
from tests.servers.tcp_proxy import TcpProxy

MEBIBYTES = int(os.environ.get("RANKERY_TEST_UPLOAD_MEBIBYTES", "48"))
# Limit of the API's memory growth for an upload of any size: blocks in transit, threads, tables. The limit
# also applies to an object storage, to which parts are sent from the disk.
MAX_GROWTH_BYTES = 40 * 2**20
_CLIENTS = Path(__file__).parent / "tus_clients"
_VERSION = {"Tus-Resumable": "1.0.0"}


@pytest.fixture(scope="module")
def running_api(
    service_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiProcess]:
    """An API process without a worker, on a separate store for this file."""
    folder = tmp_path_factory.mktemp("api")
    store_arguments = new_service_places(service_kind, folder / "data", request)
    api = ApiProcess({"data_dir": store_arguments.data_dir}, folder, **store_arguments.environment)
    api.start()
    yield api
    api.kill()


@pytest.fixture
def api(running_api: ApiProcess) -> ApiProcess:
    """The running API process, after deletion of all uploads."""
    for upload in httpx.get(f"{running_api.url}/v1/uploads").json()["items"]:
        url = f"{running_api.url}/v1/uploads/{upload['id']}"
        httpx.delete(url, headers=_VERSION).raise_for_status()
    return running_api


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file that is not a dataset, and its checksum."""
    path, digest, chance = tmp_path_factory.mktemp("large") / "train.txt", hashlib.sha256(), random.Random(7)
    with path.open("wb") as file:
        for _ in range(MEBIBYTES):
            block = chance.randbytes(2**20)
            digest.update(block)
            file.write(block)
    return path, digest.hexdigest()


def _node() -> str:
    node = shutil.which("node", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if node is None or not (Path(__file__).parents[2] / "node_modules" / "tus-js-client").is_dir():
        skip_without("no Node.js with tus-js-client: make develop node_modules/.package-lock.json")
    return node


def _command(name: str, url: str, path: Path, folder: Path) -> list[str]:
    if name == "rankery":
        uploading = "import sys; from rankery.client import Client\n"
        uploading += "client = Client(sys.argv[1], resumable_bytes=1_000_000)\n"
        uploading += "print(client.upload_dataset(sys.argv[2], progress=False).id)"
        return [sys.executable, "-c", uploading, url, str(path)]
    memory = str(folder / "memory.json")
    if name == "tuspy":
        program = [sys.executable, str(_CLIENTS / "upload_with_tuspy.py")]
    else:
        program = [_node(), str(_CLIENTS / "upload.mjs")]
    return [*program, f"{url}/v1/uploads", str(path), memory]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[[list[str]], "subprocess.Popen[str]"]]:
    """Function that starts a client process, which is killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def start(command: list[str]) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("name", "killed"),
    [
        ("tus-js-client", "api"),
        ("rankery", "client"),
        *(
            pytest.param(name, killed, marks=pytest.mark.slow)
            for name in ("tuspy", "tus-js-client", "rankery")
            for killed in ("client", "api")
            if (name, killed) not in (("tus-js-client", "api"), ("rankery", "client"))
        ),
    ],
)
def test_an_upload_that_was_killed_half_way_is_resumed(
    api: ApiProcess,
    large_file: tuple[Path, str],
    launch: Callable[[list[str]], "subprocess.Popen[str]"],
    tmp_path: Path,
    name: str,
    killed: str,
) -> None:
    """The dataset has the bytes of the file, and only a part of them was sent twice."""
    path, sha256 = large_file
    size_bytes = path.stat().st_size
    with TcpProxy(api.port) as proxy:
        command = _command(name, f"http://127.0.0.1:{proxy.port}", path, tmp_path)
        client = launch(command)
        wait_for(
            lambda: proxy.passed_bytes > size_bytes * 0.6 or client.poll() is not None, pause_seconds=0.002
        )
        proxy.block()
        assert client.poll() is None, client.communicate()
        wait_for(lambda: _received_bytes(api) > size_bytes * 0.3)  # of the bytes in transit
        if killed == "client":
            client.kill()
            client.wait()
        else:
            api.kill()
        proxy.cut()
        proxy.unblock()
        sent_bytes = proxy.passed_bytes
        if killed == "client":
            wait_for(
                lambda: _receives_nothing(api)
            )  # else the API may still store bytes after the first request of the new client
            client = launch(command)
        else:
            time.sleep(1)  # connections are refused meanwhile
            api.start()
        output, errors = client.communicate(timeout=LIMIT_SECONDS)
        assert client.returncode == 0, errors
        sent_again_bytes = proxy.passed_bytes - sent_bytes
    dataset = _dataset(api, output.strip().rpartition("/")[2])
    assert (dataset["sha256"], dataset["size_bytes"]) == (sha256, size_bytes)
    assert dataset["name"] == "train.txt"
    assert sent_again_bytes < size_bytes * 0.85
    assert httpx.get(f"{api.url}/v1/uploads").json() == {"items": []}


def test_memory_does_not_grow_with_the_file(api: ApiProcess, large_file: tuple[Path, str]) -> None:
    """The API needs constant memory to receive an upload and to create a dataset of it."""
    path, sha256 = large_file
    wait_for(lambda: "kernel" not in httpx.get(f"{api.url}/readyz").text)  # compiled code is loaded meanwhile
    with Client(api.url, resumable_bytes=1) as client:
        small = path.with_name("small.txt")
        small.write_bytes(b"2 qid:1 1:0.5\n")
        client.upload_dataset(small, progress=False)  # loads the code that any upload needs
        before = most = api.memory_bytes()
        with ThreadPoolExecutor(1) as pool:
            uploading = pool.submit(client.upload_dataset, path, progress=False)
            while not uploading.done():
                most = max(most, api.memory_bytes())
                time.sleep(0.005)
    assert uploading.result().sha256 == sha256
    growth = most - before
    sys.stderr.write(f"memory: {before:,} bytes, at most {growth:,} more for {path.stat().st_size:,}\n")
    assert growth < MAX_GROWTH_BYTES


def test_the_latest_request_continues(api: ApiProcess) -> None:
    """A client can continue while its old connection is still open; the old request gets a 423."""
    content = random.Random(1).randbytes(3 * 2**20)
    created = httpx.post(f"{api.url}/v1/uploads", headers={**_VERSION, "Upload-Length": str(len(content))})
    url = f"{api.url}{created.headers['location']}"
    headers = {**_VERSION, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}

    def lingering() -> Iterator[bytes]:
        yield b"x" * 2**20
        time.sleep(0.5)  # until the service has received the block
        again = httpx.patch(url, headers=headers, content=content[: 2**20])
        assert (again.status_code, again.headers["upload-offset"]) == (204, str(2**20))
        yield b"x" * 2**20

    overtaken = httpx.patch(url, headers=headers, content=lingering())
    assert (overtaken.status_code, overtaken.headers["retry-after"]) == (423, "1")
    assert httpx.head(url, headers=_VERSION).headers["upload-offset"] == str(2**20)
    rest = {**headers, "Upload-Offset": str(2**20)}
    assert httpx.patch(url, headers=rest, content=content[2**20 :]).status_code == 204
    dataset = _dataset(api, url.rpartition("/")[2])
    assert dataset["sha256"] == hashlib.sha256(content).hexdigest()


def test_received_bytes_of_an_incomplete_body_are_stored(api: ApiProcess) -> None:
    """If a body ends before its declared length, all received bytes are stored."""
    created = httpx.post(f"{api.url}/v1/uploads", headers={**_VERSION, "Upload-Length": "9000000"})
    url = f"{api.url}{created.headers['location']}"
    headers = {**_VERSION, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}

    def broken() -> Iterator[bytes]:
        yield bytes(2_500_000)
        time.sleep(0.5)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        httpx.patch(url, headers={**headers, "Content-Length": "9000000"}, content=broken())
    offset = "upload-offset"
    wait_for(lambda: httpx.head(url, headers=_VERSION).headers[offset] == "2500000")


def test_files_below_the_bound_are_sent_in_one_request(api: ApiProcess, tmp_path: Path) -> None:
    """The client sends small files in a form, without a resumable upload."""
    path = tmp_path / "small.txt"
    path.write_bytes(b"2 qid:1 1:0.5\n")
    assert path.stat().st_size < RESUMABLE_BYTES
    with Client(api.url) as client:
        before = client.request("GET", "/v1/audit").json()["items"]
        client.upload_dataset(path, progress=False)
        audit = client.request("GET", "/v1/audit").json()["items"]
    assert [entry["path"] for entry in audit if entry not in before] == ["/v1/datasets"]


def test_a_file_may_be_several_parts(api: ApiProcess, tmp_path: Path) -> None:
    """Each part has a separate upload, which is used once."""
    path = tmp_path / "judged.txt"
    path.write_bytes(b"2 qid:1 1:0.5\n")
    with Client(api.url, resumable_bytes=1) as client:
        dataset = client.upload_dataset(parts={"validation": path, "test": path}, progress=False)
    assert dataset.parts is not None
    assert set(dataset.parts) == {"validation", "test"}


def _received_bytes(api: ApiProcess) -> int:
    (upload,) = httpx.get(f"{api.url}/v1/uploads").json()["items"]
    return int(upload["received_bytes"])


def _receives_nothing(api: ApiProcess) -> bool:
    before = _received_bytes(api)
    time.sleep(1.5)
    return _received_bytes(api) == before


def _dataset(api: ApiProcess, made_id: str) -> Any:
    """Return the dataset with this id, or create a dataset of the finished upload with this id."""
    if made_id.startswith("ds_"):
        return httpx.get(f"{api.url}/v1/datasets/{made_id}").json()
    form = {"file": (None, f"upload:{made_id}")}
    response = httpx.post(f"{api.url}/v1/datasets", files=form, timeout=LIMIT_SECONDS)
    assert response.status_code == 202, response.text
    return response.json()
