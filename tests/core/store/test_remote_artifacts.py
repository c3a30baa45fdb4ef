"""Artifacts on an object store: large objects, several processes, and outages."""

import os
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import NotFound, StoreUnavailable
from core.store.artifacts import file_systems, multipart
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.file_systems import FileSystem
from core.store.artifacts.multipart import DOWNLOAD_PART_BYTES, MAX_PARTS, PART_BYTES, ranges
from tests.servers import S3Server, TcpProxy

pytestmark = pytest.mark.long

KEY = "models/mdl_1/model.txt"


@pytest.fixture
def proxy(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[TcpProxy]:
    """A TCP proxy between the artifacts and the object store."""
    proxy = TcpProxy(s3.port)
    for name, value in s3.environment_through(f"http://127.0.0.1:{proxy.port}").items():
        monkeypatch.setenv(name, value)
    yield proxy
    proxy.shut()


@pytest.fixture
def storage_url(s3: S3Server) -> str:
    """A folder in a new bucket."""
    return s3.new_bucket()[0]


@pytest.fixture
def open_artifacts(proxy: TcpProxy, storage_url: str) -> Callable[..., Artifacts]:
    """A function that opens the same artifacts, in a separate bucket."""
    return lambda patience_seconds=10.0: Artifacts(storage_url, patience_seconds)


@pytest.fixture
def artifacts(open_artifacts: Callable[..., Artifacts]) -> Artifacts:
    """Artifacts that repeat failed requests for longer than a test takes."""
    return open_artifacts()


def test_a_large_object_is_read_whole_and_in_ranges(artifacts: Artifacts) -> None:
    """An object of several parts comes back whole, as a file and in any range."""
    content = np.random.default_rng(0).bytes(45 * 2**20)
    artifacts.write_bytes(KEY, content)
    assert artifacts.size(KEY) == len(content)
    with artifacts.local(KEY) as path:
        assert path.read_bytes() == content
    with artifacts.open(KEY) as file:
        file.seek(-10, os.SEEK_END)
        assert file.read(20) == content[-10:]
        file.seek(33 * 2**20 + 7)
        assert file.read(3 * 2**20) == content[33 * 2**20 + 7 : 36 * 2**20 + 7]
        file.seek(len(content) + 5)
        assert file.read() == b""


def test_a_large_object_is_sent_from_the_disk(artifacts: Artifacts) -> None:
    """The parts of objects are not held in memory, however many are sent at the same time."""
    with artifacts.writing(KEY) as file:
        for _ in range(45):
            file.write(bytes(2**20))
        tracemalloc.start()
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert artifacts.size(KEY) == 45 * 2**20
    assert peak_bytes < PART_BYTES / 2


def test_a_large_object_that_was_cut_short_is_sent_again(
    artifacts: Artifacts, proxy: TcpProxy, storage_url: str
) -> None:
    """The object appears whole, and nothing is left of the first attempt."""
    content = np.random.default_rng(1).bytes(45 * 2**20)
    before = proxy.passed_bytes

    def cut() -> None:
        while proxy.passed_bytes - before < 20 * 2**20:
            time.sleep(0.001)
        proxy.cut()

    cutting = threading.Thread(target=cut, daemon=True)
    cutting.start()
    artifacts.write_bytes(KEY, content)
    cutting.join()
    assert proxy.passed_bytes - before > len(content)
    assert artifacts.read_bytes(KEY) == content
    bucket = storage_url.removeprefix("s3://").partition("/")[0]
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    assert "Uploads" not in files.call_s3("list_multipart_uploads", Bucket=bucket)


def test_a_part_is_retried_however_long_the_upload_takes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One failure of a part, a minute after the start, does not end the upload."""
    seconds = [0.0]
    clock = SimpleNamespace(monotonic=lambda: seconds[0], sleep=lambda _: None)
    monkeypatch.setattr(file_systems, "time", clock)
    calls: Counter[str] = Counter()

    class Server:
        def split_path(self, path: str) -> tuple[str, str, None]:
            return "bucket", path, None

        def call_s3(self, name: str, **_: Any) -> dict[str, str]:
            calls[name] += 1
            if name == "create_multipart_upload":
                seconds[0] = 60.0
            if name == "upload_part" and calls[name] == 2:
                raise ConnectionResetError("by the server")
            return {"UploadId": "u", "ETag": "e"}

    files = FileSystem("s3://bucket", 30.0)
    monkeypatch.setattr(files, "_files", Server())
    (tmp_path / "file").write_bytes(bytes(3 * PART_BYTES))
    files.send(str(tmp_path / "file"), "key")
    assert (calls["create_multipart_upload"], calls["upload_part"]) == (1, 4)
    assert (calls["complete_multipart_upload"], calls["abort_multipart_upload"]) == (1, 0)


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_completion_is_retried_after_a_lost_response(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch, is_complete: bool
) -> None:
    """An upload ends well whether the server published the object before it failed, or not."""
    files = artifacts._files._files
    call_s3, failures = files.call_s3, [ConnectionResetError("by the server")]

    calls: Counter[str] = Counter()

    def failing(name: str, **arguments: Any) -> Any:
        calls[name] += 1
        if name != "complete_multipart_upload" or not failures:
            return call_s3(name, **arguments)
        if is_complete:
            call_s3(name, **arguments)
        raise failures.pop()

    monkeypatch.setattr(files, "call_s3", failing)
    content = np.random.default_rng(2).bytes(2 * PART_BYTES)
    artifacts.write_bytes(KEY, content)
    assert artifacts.read_bytes(KEY) == content
    assert calls["create_multipart_upload"] == 1


def _read_as_file(artifacts: Artifacts) -> bytes:
    with artifacts.local(KEY) as path:
        return path.read_bytes()


@pytest.mark.parametrize("read", [_read_as_file, lambda artifacts: artifacts.read_bytes(KEY)])
def test_the_patience_of_a_download_renews_with_each_part(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[Artifacts], bytes]
) -> None:
    """A download that is interrupted once in each part, for 20 of 30 seconds, is completed."""
    seconds = [0.0]
    clock = SimpleNamespace(monotonic=lambda: seconds[0], sleep=lambda _: None)
    monkeypatch.setattr(file_systems, "time", clock)
    content = np.random.default_rng(0).bytes(5 * DOWNLOAD_PART_BYTES + 1)
    interrupted: set[int] = set()

    class Server:
        def size(self, _path: str) -> int:
            return len(content)

        def get_file(self, path: str, file: str) -> None:
            Path(file).write_bytes(self.cat_file(path))

        def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
            if start is None:
                parts = range(0, len(content), DOWNLOAD_PART_BYTES)
                return b"".join(self.cat_file(path, each, each + DOWNLOAD_PART_BYTES) for each in parts)
            if start not in interrupted:
                interrupted.add(start)
                seconds[0] += 20.0
                raise ConnectionResetError("by the server")
            return content[start:end]

    monkeypatch.setattr(multipart, "CONCURRENT_PARTS", 1)
    artifacts = Artifacts("s3://bucket", 30.0)
    monkeypatch.setattr(artifacts._files, "_files", Server())
    assert read(artifacts) == content
    assert len(interrupted) == 6


def test_parts_cover_a_file_of_any_size() -> None:
    """The number of parts is within S3's limit, and the last part ends with the file."""
    for size_bytes in (2 * PART_BYTES, 2 * PART_BYTES + 1, MAX_PARTS * PART_BYTES + 1, 5 * 2**40):
        parts = list(ranges(size_bytes))
        assert len(parts) <= MAX_PARTS
        assert [start for start, _ in parts[1:]] == [start + size for start, size in parts[:-1]]
        assert sum(size for _, size in parts) == size_bytes


def test_a_page_of_a_large_table_is_read_by_itself(
    artifacts: Artifacts, tmp_path: Path, proxy: TcpProxy
) -> None:
    """One row group of a hundred costs a small share of the file's bytes."""
    values = np.random.default_rng(0).random(1_000_000)
    with artifacts.writing(KEY) as file:
        pq.write_table(pa.table({"value": values}), file, row_group_size=10_000)
    before = proxy.passed_bytes
    with artifacts.open(KEY) as file:
        group = pq.ParquetFile(file).read_row_group(50)
    assert group.column("value").to_pylist() == values[500_000:510_000].tolist()
    assert proxy.passed_bytes - before < artifacts.size(KEY) / 5


def test_changes_of_another_process_are_seen_immediately(
    open_artifacts: Callable[..., Artifacts],
) -> None:
    """Each of two clients acts as one process; neither remembers a listing or a missing key."""
    one, other = open_artifacts(), open_artifacts()
    assert not one.exists(KEY)
    assert not one.exists("models")
    other.write_bytes(KEY, b"x")
    assert one.exists(KEY)
    assert one.read_bytes(KEY) == b"x"
    one.delete("models")
    with pytest.raises(NotFound):
        other.read_bytes(KEY)
    assert not other.exists("models")


@pytest.mark.long
def test_a_child_has_its_own_connections(artifacts: Artifacts) -> None:
    """Forked processes and their parent use the store side by side, before and after the others end."""
    artifacts.write_bytes("parent/0", b"x")
    for number in range(3):
        child = os.fork()
        if child == 0:
            os._exit(_written_and_read(artifacts, f"child/{number}"))
        artifacts.write_bytes(f"parent/{number}", b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert artifacts.read_bytes(f"parent/{number}") == b"x"
        assert artifacts.read_bytes(f"child/{number}") == b"of the child"


def _written_and_read(artifacts: Artifacts, key: str) -> int:
    try:
        artifacts.write_bytes(key, b"of the child")
        return int(artifacts.read_bytes(key) != b"of the child")
    except BaseException:  # noqa: BLE001 - a child must never return into the test run
        return 1


def test_a_short_outage_is_survived(artifacts: Artifacts, proxy: TcpProxy) -> None:
    """Requests to a store that refuses connections for a while succeed when it accepts them again."""
    artifacts.write_bytes(KEY, b"first")
    with artifacts.open(KEY) as file:
        proxy.shut()
        opening = threading.Timer(1.5, proxy.open)
        opening.start()
        assert file.read() == b"first"
        opening.join()
    proxy.shut()
    opening = threading.Timer(1.5, proxy.open)
    opening.start()
    artifacts.write_bytes(KEY, b"second")
    opening.join()
    assert artifacts.read_bytes(KEY) == b"second"


def test_a_long_outage_is_reported(open_artifacts: Callable[..., Artifacts], proxy: TcpProxy) -> None:
    """After the time for retries, each action reports that the store is unreachable, without its address."""
    artifacts = open_artifacts(patience_seconds=0.5)
    artifacts.write_bytes(KEY, b"x")
    with artifacts.open(KEY) as file:
        proxy.shut()
        for act in (
            file.read,
            lambda: artifacts.open(KEY),
            lambda: artifacts.read_bytes(KEY),
            lambda: artifacts.exists(KEY),
            lambda: artifacts.write_bytes(KEY, b"y"),
            lambda: artifacts.delete(KEY),
        ):
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="refuses connections") as raised:
                act()
            assert time.monotonic() - began < 5
            assert str(proxy.port) not in str(raised.value)
    assert artifacts.fault() == "refuses connections"
    proxy.open()
    assert artifacts.fault() is None
    assert artifacts.read_bytes(KEY) == b"x"


def test_a_store_that_hangs_is_noticed(artifacts: Artifacts, proxy: TcpProxy) -> None:
    """The store's state is known within seconds, even if it accepts connections and sends nothing."""
    artifacts.write_bytes(KEY, b"x")
    proxy.block()
    began = time.monotonic()
    assert artifacts.fault() == "does not answer in time"
    assert time.monotonic() - began < 6
    proxy.unblock()
    assert artifacts.read_bytes(KEY) == b"x"


def test_a_missing_bucket_is_an_error_of_the_storage(proxy: TcpProxy) -> None:
    """The error does not name the artifact as missing."""
    artifacts = Artifacts("s3://no-such-bucket/artifacts", 5.0)
    assert artifacts.fault() == "does not exist"
    with pytest.raises(StoreUnavailable, match="does not exist"):
        artifacts.write_bytes(KEY, b"x")


def test_marked_folders_are_no_artifacts(artifacts: Artifacts, storage_url: str) -> None:
    """Consoles of buckets create an object for each folder."""
    files, artifact = fsspec.filesystem("s3", skip_instance_cache=True), [(KEY, 4)]
    bucket, folder = storage_url.removeprefix("s3://").split("/")
    for key in (f"{folder}/", f"{folder}/models/", f"{folder}/models/mdl_1/"):
        files.call_s3("put_object", Bucket=bucket, Key=key, Body=b"")
    assert list(artifacts.files()) == []
    artifacts.write_bytes(KEY, b"tree")
    assert list(artifacts.sizes()) == list(artifacts.sizes("models/mdl_1")) == artifact


def test_an_empty_bucket_is_usable(artifacts: Artifacts) -> None:
    """The folder need not exist before the first artifact."""
    assert artifacts.fault() is None
    artifacts.delete("models")
