"""Decompression bombs, zip and tar archives instead of data, and damaged files."""

import gzip
import io
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import synthetic_dataset
from core.data.arrays import load_arrays, save_arrays
from core.data.options import Limits
from core.data.parquet import read_parquet, write_parquet
from core.data.reading import JudgedFile, read_file
from core.errors import DatasetError

ROWS = b"2 qid:1 1:0.5\n1 qid:1 1:0.1\n"
BOMB_BYTES = 2**28
MAX_MEMORY = 2**26


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../../tmp/rankery-was-here", ROWS)
        archive.writestr("train.txt", bytes(2**20))
    return file.getvalue()


def _tar(mode: Literal["w:", "w:gz"] = "w:") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        member = tarfile.TarInfo("../../../../tmp/rankery-was-here")
        member.size = len(ROWS)
        archive.addfile(member, io.BytesIO(ROWS))
        link = tarfile.TarInfo("train.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()


def _gzip_bomb(content: bytes = b" ") -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = content * (2**20 // len(content))
    return b"".join([*(packer.compress(block) for _ in range(BOMB_BYTES // 2**20)), packer.flush()])


def _zstd_bomb() -> bytes:
    return bytes(pa.compress(bytes(BOMB_BYTES), "zstd", asbytes=True))


def _parquet_bomb() -> bytes:
    """Return a few kilobytes of Parquet with 20 million equal texts, a gigabyte when decoded."""
    file = io.BytesIO()
    indices: Any = pa.array(np.zeros(20_000_000, np.int8))
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 50]))
    pq.write_table(pa.table({"query_id": column, "label": np.zeros(20_000_000, np.int8)}), file)
    return file.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "a zip archive with a path that climbs": _zip,
    "a tar archive with a link": _tar,
    "a tar archive in gzip": lambda: _tar("w:gz"),
    "a gzip bomb of blanks": _gzip_bomb,
    "a gzip bomb of one endless line": lambda: _gzip_bomb(b"1 qid:1 1:0.5   "),
    "gzip in gzip": lambda: gzip.compress(gzip.compress(ROWS)),
    "a Zstandard bomb": _zstd_bomb,
    "a Zstandard frame that says it is 16 EiB": lambda: (
        b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x01\x00\x00"
    ),
    "a Zstandard window of 2 GiB": lambda: b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00",
    "a Parquet bomb": _parquet_bomb,
    "Parquet with only its magic bytes": lambda: b"PAR1" + bytes(64) + b"PAR1",
    "Parquet with a footer of 4 GiB": lambda: b"PAR1" + bytes(64) + b"\xff\xff\xff\xffPAR1",
    "a pickle": lambda: b"\x80\x04cposix\nsystem\n(S'touch /tmp/rankery-was-here'\ntR.",
    "a workbook": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
    "a program": lambda: b"\x7fELF" + bytes(512),
    "a feature beyond the last": lambda: b"1 qid:1 2147483647:1\n",
    "a feature beyond 64 bits": lambda: b"1 qid:1 99999999999999999999:1\n",
    "a label of a thousand digits": lambda: b"9" * 1000 + b" qid:1 1:1\n",
    "a line without end": lambda: b"1 qid:1 1:" + b"1" * 8_000_000,
    "quotes without end": lambda: b'label,query,a\n1,"' + b"x" * 5_000_000,
    "a header of a million columns": lambda: b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n",
    "NUL bytes": lambda: bytes(100_000),
    "formulas of a spreadsheet as labels": lambda: b'label,query,a\n=HYPERLINK("http://evil"),1,2\n',
}


@pytest.mark.parametrize("case", FILES)
def test_a_malicious_file_is_refused(tmp_path: Path, case: str) -> None:
    """The error names the file; memory is bounded, no other file is written, and no code runs."""
    path = tmp_path / "upload"
    path.write_bytes(FILES[case]())
    limits = Limits(unpacked_bytes=2**26, documents=2**20, features=10_000)
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError) as refused:
            read_file(JudgedFile(path, "attack.txt"), limits=limits)
        _, max_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "attack.txt" in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert len(str(refused.value)) < 1_000
    assert max_bytes < MAX_MEMORY
    assert list(tmp_path.iterdir()) == [path]
    assert not list(Path("/tmp").glob("rankery-was-here*"))


@pytest.mark.parametrize("seed", range(5))
def test_a_tampered_parquet_artifact_does_not_crash_the_reader(tmp_path: Path, seed: int) -> None:
    """Stored Parquet with flipped bytes is read or refused, and never ends the process."""
    path = tmp_path / "data.parquet"
    with path.open("wb") as file:
        write_parquet(synthetic_dataset(5, seed=1), file)
    content = path.read_bytes()
    draw = np.random.default_rng(seed)
    for _ in range(100):
        damaged = bytearray(content)
        for at in draw.integers(0, len(content), draw.integers(1, 8)):
            damaged[at] = draw.integers(0, 256)
        path.write_bytes(damaged[: draw.integers(1, len(content))] if draw.random() < 0.2 else damaged)
        try:
            read_parquet(path)
        except (DatasetError, OSError, ValueError, pa.ArrowException, KeyError):
            continue  # the reader's errors; the worker fails the job for each of them


@pytest.mark.parametrize("name", ["features", "labels", "query_boundaries"])
def test_a_pickle_among_cached_arrays_is_not_loaded(tmp_path: Path, name: str) -> None:
    """A cached array that was replaced by pickled objects is an error and is not unpickled."""
    save_arrays(synthetic_dataset(2, seed=1), tmp_path)
    (file,) = tmp_path.glob(f"{name}.*")
    with file.open("wb") as replaced:
        np.save(replaced, np.array([_Bomb(tmp_path / "ran")], object), allow_pickle=True)
    with pytest.raises((ValueError, DatasetError)):
        load_arrays(tmp_path)
    assert not (tmp_path / "ran").exists()


class _Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)
