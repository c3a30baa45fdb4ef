"""Memory-map the bytes of a file, unpacked if compressed."""

import mmap
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.data.options import Limits
from core.errors import DatasetError

Bytes = npt.NDArray[np.uint8]
Progress = Callable[[int, int], None]

_CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class _Packing:
    name: str
    codec: Literal["gzip", "zstd"]
    signatures: tuple[bytes, ...]


_PACKINGS = (
    _Packing("gzip", "gzip", (b"\x1f\x8b",)),
    # pzstd files begin with a skippable frame.
    _Packing("Zstandard", "zstd", (b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18")),
)


def mapped_bytes(
    path: Path,
    file: str,
    limits: Limits,
    on_progress: Progress | None = None,
    *,
    expected: str = "judged documents",
) -> Bytes:
    """Map a file read-only; gzip and Zstandard data, detected by their content, are unpacked first.

    Unpacked bytes are written to an unlinked temporary file, so that they take no process memory and no file
    remains.

    Args:
        path: Path of the file. A plain file is mapped directly and must not be truncated while in use.
        file: Name of the file for messages.
        limits: Size limits of unpacked data.
        on_progress: Called with the packed bytes read so far and the size of the packed file.
        expected: Expected content of the file, for messages.

    Raises:
        DatasetError: When the file is empty or a pipe, or packed data are damaged, truncated or too large.
        OSError: When the file cannot be opened, or the disk is full.
    """
    with path.open("rb", buffering=0) as stream:
        if not stream.seekable():
            raise DatasetError.at("expected a regular file, but found a pipe; write it to a file", file=file)
        start = stream.read(4)
        if not start:
            raise DatasetError.at(f"expected {expected}, but the file is empty", file=file)
        packing = _packing(start)
        if packing is None:
            return _mapped(stream)
        with tempfile.TemporaryFile() as unpacked:
            size = _unpack(packing, path, unpacked, file, limits, on_progress)
            if size == 0:
                raise DatasetError.at(
                    f"expected {expected}, but the {packing.name} data are empty", file=file
                )
            content = _mapped(unpacked)
    inner = _packing(content[:4].tobytes())
    if inner is not None:
        raise DatasetError.at(
            f"expected data that are compressed once, but found {inner.name} data within {packing.name} data",
            file=file,
        )
    return content


def _packing(start: bytes) -> _Packing | None:
    for packing in _PACKINGS:
        if start.startswith(packing.signatures):
            return packing
    return None


def _mapped(stream: IO[bytes] | FileIO) -> Bytes:
    return np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _unpack(
    packing: _Packing,
    path: Path,
    unpacked: IO[bytes],
    file: str,
    limits: Limits,
    on_progress: Progress | None,
) -> int:
    written = 0
    with pa.OSFile(str(path), "r") as source, pa.CompressedInputStream(source, packing.codec) as stream:
        max_bytes = limits.unpacked(source.size())
        while chunk := _read(stream, packing, file):
            written += len(chunk)
            if written > max_bytes:
                raise _too_much(packing, file, max_bytes, limits)
            unpacked.write(chunk)
            if on_progress is not None:
                on_progress(source.tell(), source.size())
    unpacked.flush()
    return written


def _read(stream: pa.CompressedInputStream, packing: _Packing, file: str) -> bytes:
    try:
        return stream.read(_CHUNK_BYTES)
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow reports damage as an OSError without an errno.
        raise DatasetError.at(_damage(packing, str(error)), file=file) from error


def _too_much(packing: _Packing, file: str, max_bytes: int, limits: Limits) -> DatasetError:
    times = (
        " (RANKERY_MAX_UNPACKED_BYTES)"
        if max_bytes == limits.unpacked_bytes
        else f", {limits.unpacked_ratio} times their compressed size (RANKERY_MAX_UNPACKED_RATIO)"
    )
    limit = f"expected {packing.name} data of at most {max_bytes:,} uncompressed bytes{times}"
    return DatasetError.at(f"{limit}, but found more", file=file)


def _damage(packing: _Packing, reported: str) -> str:
    if "Truncated" in reported:
        return f"expected complete {packing.name} data, but the file ends early; upload it again"
    if "too much memory" in reported:
        return f"expected {packing.name} data with a window of at most 128 MiB, but found a larger one"
    reason = reported.rpartition(": ")[2]
    return f"expected valid {packing.name} data, but the file is damaged: {reason[:1].lower()}{reason[1:]}"
