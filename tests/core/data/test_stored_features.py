"""Features that are read from a stored dataset a few at a time."""

import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, parquet, read_parquet, stored_features, write_parquet
from core.data.features import row_blocks, select_columns
from core.data.stored_features import StoredFeatures
from core.errors import DatasetError
from core.types import Float32Array

GROUP_ROWS, DOCUMENTS, FEATURES = 100, 1_234, 7
SIGNATURE = "X-Credential=key%2F2026&X-Signature=s%2Becret"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of thirteen row groups, one feature of which is a category; its URL is escaped."""
    random = np.random.default_rng(1)
    features = random.normal(size=(DOCUMENTS, FEATURES)).astype(np.float32)
    features[random.random(features.shape) < 0.1] = np.nan
    features[:4, 0] = [-0.0, np.inf, -np.inf, 1e-40]
    features[:, 3] = random.integers(0, 3, DOCUMENTS)
    dataset = RankingDataset.from_arrays(
        features,
        random.integers(0, 5, DOCUMENTS),
        np.arange(0, DOCUMENTS + 1, 2),
        feature_names=[f"name {number}" for number in range(FEATURES)],
        categories={"name 3": ["a", "b", "c"]},
    )
    file = tmp_path_factory.mktemp("größe 100%25 #?") / "data.parquet"
    with pytest.MonkeyPatch.context() as patch, file.open("wb") as opened:
        patch.setattr(parquet, "_ROW_GROUP_ROWS", (GROUP_ROWS, GROUP_ROWS))
        write_parquet(dataset, opened)
    return file


@pytest.fixture(scope="module")
def matrix(path: Path) -> Float32Array:
    """All features of the file."""
    return read_parquet(path).matrix


@pytest.fixture
def read_groups(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Row groups and columns that are read from now on."""
    read: list[tuple[int, str]] = []
    original = pq.ParquetFile.read_row_group

    def recorded(self: Any, group: int, columns: list[str], **options: Any) -> pa.Table:
        read.extend((group, column) for column in columns)
        return original(self, group, columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", recorded)
    return read


def _same(found: Float32Array, expected: Float32Array) -> None:
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def _all_features(path: Path) -> StoredFeatures:
    return StoredFeatures(path.as_uri(), np.arange(DOCUMENTS), np.arange(FEATURES))


@pytest.mark.parametrize(
    "key",
    [
        slice(None),
        slice(95, 310),
        slice(310, 95, -1),
        slice(50, 50),
        np.array([1_233, 0, 1_233, 99, 100]),
        np.array([], np.int64),
        np.arange(DOCUMENTS) % 7 == 0,
        5,
        -1,
        np.int64(700),
        (slice(3, 8), 2),
        (slice(None), slice(2, 5)),
        (slice(None), -1),
        (4, slice(None)),
        (4, 3),
        (slice(90, 110), np.array([5, 0, 5])),
    ],
    ids=str,
)
def test_stored_features_read_as_the_matrix_does(key: Any, path: Path, matrix: Float32Array) -> None:
    """Each selection equals that of the matrix of `read_parquet`, bit for bit, with codes of categories."""
    _same(np.asarray(_all_features(path)[key]), np.asarray(matrix[key]))


def test_rows_and_columns_are_read_in_any_order(path: Path, matrix: Float32Array) -> None:
    """Rows may be in any order and twice, columns in any order, and some absent from the file."""
    rows = np.random.default_rng(2).integers(0, DOCUMENTS, 500)
    columns = np.array([6, -1, 0, 3, -1, 3])
    found = StoredFeatures(path.as_uri(), rows, columns, absent=-7.0)
    expected = select_columns(matrix, columns, -7.0)[rows]
    assert (found.shape, len(found), found.nbytes) == ((500, 6), 500, expected.nbytes)
    _same(found[:], expected)
    _same(found[17:400, 1:4], expected[17:400, 1:4])
    assert np.isnan(StoredFeatures(path.as_uri(), rows, columns)[:, 1]).all()


def test_columns_that_the_file_lacks_have_absent_values(
    path: Path, read_groups: list[tuple[int, str]]
) -> None:
    """If the file has none of the columns, all values are absent and nothing is read."""
    found = StoredFeatures(path.as_uri(), np.arange(150), np.array([-1, -1]), absent=0.0)
    _same(found[:], np.zeros((150, 2), np.float32))
    assert read_groups == []


@pytest.mark.parametrize("cells", [1, 2 * GROUP_ROWS + 1, 2**20])
def test_ascending_rows_are_read_once(
    cells: int,
    path: Path,
    matrix: Float32Array,
    read_groups: list[tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Slices cross the ends of row groups and read only the wanted columns, however many rows at a time."""
    monkeypatch.setattr(stored_features, "_BATCH_CELLS", cells)
    rows = np.flatnonzero(np.arange(DOCUMENTS) % 300 < 150)
    features = StoredFeatures(path.as_uri(), rows, np.array([2, 4, 5]))
    parts = [features[first : first + 33] for first in range(0, len(rows), 33)]
    _same(np.concatenate(parts), matrix[rows][:, [2, 4, 5]])
    groups = np.unique(rows // GROUP_ROWS).tolist()
    assert sorted(read_groups) == [(group, name) for group in groups for name in ("f3", "f5", "f6")]


def test_blocks_of_stored_features_are_read_like_those_of_a_matrix(path: Path, matrix: Float32Array) -> None:
    """Stored features are accepted in place of the features of a dataset."""
    features: Any = _all_features(path)
    _same(np.concatenate([block for _, block in row_blocks(features)]), matrix)


@pytest.mark.long
def test_reading_takes_the_memory_of_one_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row group and a block are in memory, and little more of Arrow's, whatever the size of the file."""
    n_rows, n_features, n_groups = 20_000, 64, 8
    features = np.random.default_rng(3).normal(size=(n_rows * n_groups, n_features)).astype(np.float32)
    dataset = RankingDataset.from_arrays(
        features, np.zeros(len(features)), np.arange(0, len(features) + 1, 1_000)
    )
    file = tmp_path / "data.parquet"
    with pytest.MonkeyPatch.context() as patch, file.open("wb") as opened:
        patch.setattr(parquet, "_ROW_GROUP_ROWS", (n_rows, n_rows))
        write_parquet(dataset, opened)
    group_bytes = 4 * n_rows * n_features
    monkeypatch.setattr(stored_features, "_BATCH_CELLS", 4 * n_rows)
    found = StoredFeatures(file.as_uri(), np.arange(len(features)), np.arange(n_features))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        for first in range(0, len(features), 500):
            assert np.array_equal(found[first : first + 500], features[first : first + 500])
            assert pa.total_allocated_bytes() - before < group_bytes // 10
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * group_bytes


def test_the_error_of_a_missing_file_has_solutions(tmp_path: Path) -> None:
    """A rank on another machine lacks the folder: the message names the file and the solutions."""
    url = (tmp_path / "gone.parquet").as_uri()
    with pytest.raises(DatasetError, match=r"mount the artifact folder .* object storage") as raised:
        StoredFeatures(url, np.arange(1), np.arange(1))
    assert raised.value.problems[0].file == url


def test_files_other_than_stored_datasets_are_refused(tmp_path: Path) -> None:
    """Files that are not Parquet, and Parquet files of other programs, are refused."""
    file = tmp_path / "data.parquet"
    file.write_bytes(b"PAR1" * 10)
    with pytest.raises(DatasetError, match="cannot be read here"):
        StoredFeatures(file.as_uri(), np.arange(1), np.arange(1))
    pq.write_table(pa.table({"f1": [1.0]}), file)
    with pytest.raises(DatasetError, match="written by Rankery") as raised:
        StoredFeatures(file.as_uri(), np.arange(1), np.arange(1))
    assert raised.value.problems[0].file == file.as_uri()


def test_a_damaged_row_group_is_reported(path: Path, tmp_path: Path) -> None:
    """The damage is found when the row group is read, and the error names the file."""
    file = tmp_path / "data.parquet"
    content = bytearray(path.read_bytes())
    content[4:20_000] = bytes(19_996)
    file.write_bytes(content)
    features = StoredFeatures(file.as_uri(), np.arange(DOCUMENTS), np.arange(FEATURES))
    with pytest.raises(DatasetError, match="cannot be read here") as raised:
        features[:10]
    assert raised.value.problems[0].file == file.as_uri()


class _Storage(ThreadingHTTPServer):
    """An HTTP server that answers presigned URLs as S3 does: only GET, and only for the exact signature.

    Attributes:
        content: Bytes of the file.
        failures: Number of 503 answers before others.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _StorageHandler)
        self.content = content
        self.failures = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/bucket/data.parquet?{SIGNATURE}"


class _StorageHandler(BaseHTTPRequestHandler):
    server: _Storage

    def do_HEAD(self) -> None:
        self.send_error(403)

    def do_GET(self) -> None:
        storage = self.server
        if self.path.partition("?")[2] != SIGNATURE:
            self.send_error(403)
            return
        if storage.failures > 0:
            storage.failures -= 1
            self.send_error(503)
            return
        size, byte_range = len(storage.content), self.headers.get("Range", "")
        first, _, last = byte_range.removeprefix("bytes=").partition("-")
        begin, end = int(first or 0), min(int(last or size - 1), size - 1) + 1
        self.send_response(206 if byte_range else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - begin))
        if byte_range:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.end_headers()
        self.wfile.write(storage.content[begin:end])

    def log_message(self, format: str, *values: Any) -> None:
        """Log nothing."""


@pytest.fixture
def storage(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Storage]:
    """An object storage that holds the file, of which few bytes are requested at a time."""
    monkeypatch.setattr(stored_features, "_AHEAD_BYTES", 1_000)
    with _Storage(path.read_bytes()) as storage:
        thread = Thread(target=storage.serve_forever, daemon=True)
        thread.start()
        yield storage
        storage.shutdown()
        thread.join()


def test_a_signed_url_is_read(storage: _Storage, matrix: Float32Array) -> None:
    """The object storage accepts only the exact signature, and refuses HEAD."""
    features = StoredFeatures(storage.url, np.arange(DOCUMENTS), np.arange(FEATURES))
    _same(np.concatenate([features[first : first + 70] for first in range(0, DOCUMENTS, 70)]), matrix)


def test_a_failed_read_is_repeated(
    storage: _Storage, matrix: Float32Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three answers of 503 do not end the reading."""
    monkeypatch.setattr(stored_features, "_PAUSES_SECONDS", (0.01, 0.01, 0.01))
    features = StoredFeatures(storage.url, np.arange(DOCUMENTS), np.arange(FEATURES))
    storage.failures = 3
    _same(features[:], matrix)
    assert storage.failures == 0


def test_no_message_holds_the_signature(storage: _Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of the job's problem could otherwise read the data."""
    monkeypatch.setattr(stored_features, "_PAUSES_SECONDS", (0.01,))
    features = StoredFeatures(storage.url, np.arange(DOCUMENTS), np.arange(FEATURES))
    with pytest.raises(DatasetError) as refused:
        StoredFeatures(storage.url + "0", np.arange(1), np.arange(1))
    storage.failures = 1_000
    with pytest.raises(DatasetError) as failed:
        features[:]
    for raised in (refused, failed):
        (problem,) = raised.value.problems
        assert problem.file == storage.url.partition("?")[0]
        assert "Signature" not in f"{raised.value} {problem}"
        assert raised.value.__suppress_context__
        assert raised.value.__cause__ is None


def test_a_row_group_is_released_after_its_last_document(
    path: Path, read_groups: list[tuple[int, str]]
) -> None:
    """A row group is kept for the next documents; after its last document it is read again."""
    features = _all_features(path)
    for rows in (slice(10, 20), slice(20, 30), slice(-2, None), slice(-2, None)):
        _ = features[rows]
    assert [group for group, column in read_groups if column == read_groups[0][1]] == [0, 12, 12]
