"""Downloads of files of unknown size, and to a disk that fails."""

import contextlib
import errno
import io
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PosixPath
from typing import Any

import pytest

from core.errors import DatasetError, StoreFull, StoreUnavailable
from core.store.sources.download import DownloadLimits, download
from core.store.sources.remote_file import ByteStream, FileVersion
from core.store.sources.scratch import PartialFile
from core.store.sources.source_urls import parse_source_url

LIMITS = DownloadLimits(size_bytes=9, deadline=math.inf, seconds=600, min_free_bytes=0, patience_seconds=0.0)


class OneByte:
    """A remote file of one byte."""

    url = parse_source_url("https://ex.org/x.csv")

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Yield the byte."""
        yield ByteStream(FileVersion(1), 0, iter([b"x"]))


class Unsized:
    """A remote file whose size the server does not declare, as in chunked responses.

    Attributes:
        starts: First byte of each request.
    """

    url = parse_source_url("https://ex.org/x.csv")

    def __init__(self) -> None:
        self.starts: list[int] = []

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Yield the bytes from a position on; a server refuses a range after the end."""
        self.starts.append(start)
        if start == len(b"abc"):
            raise DatasetError.at("the server answers 416")
        yield ByteStream(FileVersion(None, '"1"'), start, iter([b"abc"[start:]]))


class BrokenOff:
    """A remote file whose server always closes the connection after the first bytes, and knows no ranges."""

    url = parse_source_url("https://ex.org/x.csv")

    def __init__(self) -> None:
        self._reads = 0

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Yield the first bytes."""
        self._reads += 1
        if self._reads > 20:
            pytest.fail("the download does not end")
        yield ByteStream(FileVersion(9), 0, iter([b"abc"]))


class FailingFile(io.BytesIO):
    """A file whose disk refuses each write."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, _: Any) -> int:
        """Refuse to write."""
        raise self._error


class FailingPath(PosixPath):
    """The path of a file whose disk refuses each write."""

    error = OSError()

    def open(self, *_: Any, **__: Any) -> Any:
        """Open the file."""
        return FailingFile(self.error)


def test_a_whole_file_of_unknown_size_is_not_requested_again(tmp_path: Path) -> None:
    """A job that is killed after its download finds the file, although the server declared no size."""
    file = Unsized()
    for _ in range(2):
        found = download(file, PartialFile(tmp_path / "x.csv"), LIMITS, lambda *_: None)
        assert found.size_bytes == len(b"abc")
    assert file.starts == [0]


def test_a_file_that_always_breaks_off_at_the_same_byte_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that are received again are no progress; else the job would occupy the worker for hours."""
    monkeypatch.setattr("core.store.sources.download._LONGEST_PAUSE_SECONDS", 0.1)
    limits = replace(LIMITS, patience_seconds=0.5)
    with pytest.raises(StoreUnavailable, match="closed after 3 of 9 bytes"):
        download(BrokenOff(), PartialFile(tmp_path / "x.csv"), limits, lambda *_: None)


@pytest.mark.parametrize(
    ("code", "kind", "detail"),
    [
        (errno.ENOSPC, StoreFull, "no space left for x.csv"),
        (errno.EDQUOT, StoreFull, "no space left for x.csv"),
        (errno.EIO, StoreUnavailable, "cannot write x.csv"),
    ],
)
def test_only_a_full_disk_is_reported_as_full(
    tmp_path: Path, code: int, kind: type[Exception], detail: str
) -> None:
    """Other failures of the disk are reported with their own reason; the job is retried after either."""
    target = PartialFile(tmp_path / "x.csv")
    target.path = FailingPath(target.path)
    target.path.error = OSError(code, os.strerror(code))
    with pytest.raises(StoreUnavailable, match=detail) as failed:
        download(OneByte(), target, LIMITS, lambda *_: None)
    assert type(failed.value) is kind
    assert os.strerror(code) in str(failed.value)


def test_a_disk_without_room_for_the_version_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is written before the bytes; the job failed with an internal error."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(PartialFile, "record_version", fail)
    with pytest.raises(StoreFull, match=r"no space left for x\.csv"):
        download(OneByte(), PartialFile(tmp_path / "x.csv"), LIMITS, lambda *_: None)
