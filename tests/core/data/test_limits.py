"""Files that would become too large are refused before memory is allocated for them."""

import gzip
import io
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data.options import FREE_BYTES, Columns, Limits, ReadingOptions
from core.data.reading import JudgedFile, read_file
from core.data.trec.run import read_run
from core.errors import DatasetError

MEBIBYTE = 2**20
ROW = b"1 qid:1 1:0.5\n"


def _read(
    folder: Path, content: bytes, limits: Limits | None = None, options: ReadingOptions | None = None
) -> None:
    path = folder / "f"
    path.write_bytes(content)
    read_file(JudgedFile(path, "f"), options, limits)


def _table(n_features: int) -> bytes:
    names = ",".join(f"f{n}" for n in range(n_features))
    return f"label,query,{names}\n1,q{',1' * n_features}\n".encode()


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (_zstd, "Zstandard")])
def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path, pack: Callable[[bytes], bytes], name: str) -> None:
    """A file that unpacks to a thousand times its size is refused, far below the absolute bound."""
    bomb = pack(bytes(FREE_BYTES + 2 * MEBIBYTE))
    assert len(bomb) * 200 < FREE_BYTES
    expected = (
        rf"expected {name} data of at most 67,108,864 uncompressed bytes, 200 times their compressed size"
    )
    with pytest.raises(DatasetError, match=expected):
        _read(tmp_path, bomb)


def test_small_files_may_have_any_ratio(tmp_path: Path) -> None:
    """Equal rows compress well; they are read if their unpacked size is small."""
    packed = gzip.compress(ROW * 200_000)
    assert len(packed) * 200 < len(ROW) * 200_000
    _read(tmp_path, packed)


def test_the_ratio_is_a_bound_beside_the_absolute_one() -> None:
    """The smaller bound holds; the first 64 MiB are free, unless the absolute bound is smaller."""
    limits = Limits(unpacked_bytes=2**30, unpacked_ratio=10)
    sizes = [limits.unpacked(packed) for packed in (1, 2**20, 2**23, 2**40)]
    assert sizes == [FREE_BYTES, FREE_BYTES, 10 * 2**23, 2**30]
    assert Limits(unpacked_bytes=1000).unpacked(10**6) == 1000


def _parquet(rows: int) -> bytes:
    """Build a table of few bytes with many rows."""
    zeros = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), pa.array([1.0]))
    table = pa.table({"label": zeros, "query": zeros, "bm25": zeros})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


@pytest.mark.parametrize("form", ["letor", "csv", "qrels", "parquet"])
def test_documents_are_bounded_in_letor_csv_qrels_and_parquet(tmp_path: Path, form: str) -> None:
    """Eleven documents are refused where at most ten are allowed."""
    content = {
        "letor": ROW * 11,
        "csv": b"label,query,bm25\n" + b"1,q,1\n" * 11,
        "qrels": b"".join(b"q 0 d%d 1\n" % n for n in range(11)),
        "parquet": _parquet(11),
    }[form]
    with pytest.raises(DatasetError, match="expected at most 10 documents, but found 11"):
        _read(tmp_path, content, Limits(documents=10))


def test_lines_of_a_run_are_bounded(tmp_path: Path) -> None:
    """A run has documents as well."""
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"q Q0 d%d 1 0.5 t\n" % n for n in range(11)))
    with pytest.raises(DatasetError, match="expected at most 10 documents, but found 11"):
        read_run(path, limits=Limits(documents=10))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"1 qid:1 1:1 12:1\n", "feature ids of at most 11, but found '12:1'"),
        (_table(12), "at most 11 features, but the columns and their lists hold 12"),
        (_table(30), "at most 11 features, but found 32 columns"),
    ],
)
def test_features_are_bounded(tmp_path: Path, content: bytes, found: str) -> None:
    """The largest id of sparse text and the columns of a table are bounded."""
    with pytest.raises(DatasetError, match=found):
        _read(tmp_path, content, Limits(features=11))


def test_only_features_count_towards_the_limit(tmp_path: Path) -> None:
    """Columns with other roles and ignored columns do not count."""
    names = [f"f{n}" for n in range(30)]
    _read(tmp_path, _table(11), Limits(features=11))
    for columns in (Columns(ignore=tuple(names[11:])), Columns(document_columns=tuple(names[11:]))):
        _read(tmp_path, _table(30), Limits(features=11), ReadingOptions(columns=columns))


@pytest.mark.parametrize("id", [2_000_000_000, 2**31, 2**64, 10**400])
def test_a_huge_feature_id_takes_no_memory(tmp_path: Path, id: int) -> None:
    """A matrix of two billion columns is never made."""
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"feature ids of at most 100,000"):
        _read(tmp_path, ROW * 1000 + b"1 qid:1 %d:1\n" % id)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 16 * MEBIBYTE


def test_rows_of_a_highly_compressed_table_are_counted(tmp_path: Path) -> None:
    """Thirty kilobytes of Parquet can hold millions of equal rows; each of them counts."""
    content = _parquet(2_000_000)
    assert len(content) < 50_000
    with pytest.raises(DatasetError, match="expected at most 1,000,000 documents, but found 2,000,000"):
        _read(tmp_path, content, Limits(documents=1_000_000))


def _written(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", **options)
    return sink.getvalue()


def _constant(value: Any, rows: int) -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array([value]))


def _long_parquet() -> bytes:
    zeros = _constant(0.0, 15_000_000)
    return _written(pa.table({"label": zeros, "query": zeros, "bm25": zeros, "age": zeros}))


def _text_parquet() -> bytes:
    zeros, texts = _constant(0.0, 20_000), _constant("x" * 10**6, 20_000)
    return _written(pa.table({"label": zeros, "query": texts, "bm25": zeros}), store_schema=False)


def _delta_parquet() -> bytes:
    table = pa.table({"label": np.zeros(2_000), "query": ["x" * 10**6] * 2_000, "bm25": np.zeros(2_000)})
    return _written(table, use_dictionary=False, column_encoding={"query": "DELTA_BYTE_ARRAY"})


def _fixed_parquet() -> bytes:
    zeros, texts = _constant(0.0, 100), pa.array([bytes(2**19)] * 100, pa.binary(2**19))
    table = pa.table({"label": zeros, "query": texts, "bm25": zeros})
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as writer:
        for _ in range(21):
            writer.write_table(table)
    return sink.getvalue()


def _plain_parquet() -> bytes:
    zeros = pa.array(np.zeros(2**20))
    table = pa.table({"label": zeros, "query": zeros, **{f"f{i}": zeros for i in range(128)}})
    return _written(table, use_dictionary=False)


def _list_parquet() -> bytes:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2**20, np.float32)), 2**20)
    table = pa.table({"label": [0.0], "query": [0.0], "emb": lists.cast(pa.list_(pa.float32()))})
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as writer:
        for _ in range(129):
            writer.write_table(table)
    return sink.getvalue()


def _sparse_letor() -> bytes:
    return b"1 qid:1 100000:1\n" * 3_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (_long_parquet, r"15,000,000 documents by 2 features take"),
        (_text_parquet, r"but found 16,384,000,000 bytes"),
        pytest.param(_delta_parquet, r"but found 1,\d{3},000,000 bytes", marks=pytest.mark.slow),
        pytest.param(_fixed_parquet, r"but found 1,101,004,800 bytes", marks=pytest.mark.slow),
        pytest.param(_plain_parquet, r"but found 1,\d{3},\d{3},\d{3} bytes", marks=pytest.mark.slow),
        pytest.param(_list_parquet, r"but found 1,082,130,432 bytes", marks=pytest.mark.slow),
        (_sparse_letor, r"3,000 documents by 100,000 features take"),
    ],
)
def test_values_that_expand_greatly_are_refused(
    tmp_path: Path, make: Callable[[], bytes], expected: str
) -> None:
    """The expanded size of repeated values is compared with the file's size before memory is allocated."""
    content = make()
    assert len(content) < 2 * MEBIBYTE
    tracemalloc.start()
    with (
        _counted_memory() as arrow,
        pytest.raises(DatasetError, match=rf"1,073,741,824 bytes \(RANKERY_MAX_UNPACKED_RATIO\).*{expected}"),
    ):
        _read(tmp_path, content)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes + (arrow.max_memory() or 0) < 128 * MEBIBYTE


@contextmanager
def _counted_memory() -> Iterator[pa.MemoryPool]:
    """Count the memory that Arrow takes in the block."""
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        yield counted
    finally:
        pa.set_memory_pool(usual)


def test_the_memory_of_a_dataset_is_bounded_by_the_size_of_its_file() -> None:
    """4 bytes a feature and 64 a document take at most 1 GiB, or the file's size times the ratio if more."""
    limits = Limits(unpacked_ratio=10)
    assert [limits.in_memory(size) for size in (1, 2**27)] == [2**30, 10 * 2**27]
    assert limits.oversize(2**22, 48, 1) is None
    assert limits.oversize(2**22 + 1, 48, 1) is not None
    assert limits.oversize(2**22 + 1, 48, 2**27) is None


def test_data_that_compress_well_are_read(tmp_path: Path) -> None:
    """A file with a hundred columns of mostly zeros has a three-hundredth of their size in memory."""
    rows, columns = 100_000, 100
    marks = np.random.default_rng(1).random((columns, rows)) < 0.0005
    features = {f"f{i}": pa.array(column.astype(np.float32)) for i, column in enumerate(marks)}
    queries = pa.array(np.repeat(np.arange(rows // 100), 100))
    content = _written(pa.table({"label": queries, "query": queries, **features}))
    assert 300 * len(content) < 4 * rows * columns
    _read(tmp_path, content)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"", "expected a first row of at most 4,194,304 bytes"),
        (b"label,query,bm25\n1,q,", "expected rows of at most 4,194,304 bytes"),
        (b'label,query,"', "expected a first row of at most 4,194,304 bytes"),
    ],
)
def test_an_endless_line_of_a_table_is_refused(tmp_path: Path, start: bytes, expected: str) -> None:
    """A table without line ends is not read into memory whole."""
    content = start + b"1," * (16 * MEBIBYTE)
    _read(tmp_path, b"label,query,bm25\n1,q,1\n")  # imports modules, whose memory is not that of the line
    tracemalloc.start()
    with pytest.raises(DatasetError, match=expected):
        _read(tmp_path, content)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 16 * MEBIBYTE  # half of the file


def test_names_of_columns_are_bounded_like_rows(tmp_path: Path) -> None:
    """The names of the columns are bounded like rows, one by one and together."""
    with pytest.raises(DatasetError, match="expected a first row of at most 4,194,304 bytes"):
        _read(tmp_path, b"label,query,f" + b",f" * 2_500_000 + b"\n1,q,1\n")
    with pytest.raises(DatasetError, match="field larger than field limit"):
        _read(tmp_path, b"label,query,f" + b"f" * 200_000 + b"\n1,q,1\n")


def test_a_long_line_is_shown_shortened(tmp_path: Path) -> None:
    """The message about a line of megabytes is short."""
    with pytest.raises(DatasetError) as caught:
        _read(tmp_path, b"q 0 d 1\n" * 30 + b"q 0 d " + b"1 " * 8 * MEBIBYTE + b"\n")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("archive", ["zip", "tar"])
def test_archives_are_refused(tmp_path: Path, archive: str) -> None:
    """The files in an archive are never unpacked, so that none of their paths matters."""
    sink = io.BytesIO()
    if archive == "zip":
        with zipfile.ZipFile(sink, "w") as file:
            file.writestr("../../etc/passwd", ROW)
        content, found = sink.getvalue(), "a ZIP archive"
    else:
        content, found = bytes(257) + b"ustar\x0000" + bytes(248), "a tar archive"
    for packed in (content, gzip.compress(content)):
        with pytest.raises(DatasetError, match=f"but found {found}"):
            _read(tmp_path, packed)
