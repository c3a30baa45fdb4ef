"""Memory-map the bytes of a file, decompressed if necessary."""

import mmap
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.data.options import Limits
from core.errors import DatasetError
from core.temporary_files import reporting_full_disk
from core.types import OnProgress

Bytes = npt.NDArray[np.uint8]

_CHUNK_BYTES = 2**20
_GZIP_BYTES = 2**15  # zlib copies what follows a member: short, as a file may have many small members
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib expects the header and checksum of gzip


@dataclass(frozen=True)
class _Compression:
    name: str
    codec: Literal["gzip", "zstd"]
    signatures: tuple[bytes, ...]


_COMPRESSIONS = (
    _Compression("gzip", "gzip", (b"\x1f\x8b",)),
    # pzstd files begin with a skippable frame.
    _Compression("Zstandard", "zstd", (b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18")),
)


def mapped_bytes(
    path: Path,
    file: str,
    limits: Limits,
    on_progress: OnProgress | None = None,
    *,
    expected: str = "judged documents",
) -> Bytes:
    """Map a file read-only; gzip and Zstandard data, detected by their content, are decompressed first.

    Decompressed bytes are written to an unlinked temporary file, so that they take no process memory and no
    file remains.

    Args:
        path: Path of the file. A plain file is mapped directly and must not be truncated while in use.
        file: Name of the file for messages.
        on_progress: Called with the compressed bytes read so far and the size of the compressed file.
        expected: Expected content of the file, for messages.

    Raises:
        DatasetError: The file is empty or a pipe, or compressed data are damaged, truncated or too
            large.
        StoreFull: The disk of temporary files has no room for the decompressed bytes.
        OSError: The file cannot be opened.
    """
    with path.open("rb", buffering=0) as stream:
        if not stream.seekable():
            raise DatasetError.at("expected a regular file, but found a pipe; write it to a file", file=file)
        start = stream.read(4)
        if not start:
            raise DatasetError.at(f"expected {expected}, but the file is empty", file=file)
        compression = _compression_of(start)
        if compression is None:
            return _mapped(stream)
        with reporting_full_disk("the uncompressed data"), tempfile.TemporaryFile() as decompressed:
            size = _decompress(compression, path, decompressed, file, limits, on_progress)
            if size == 0:
                raise DatasetError.at(
                    f"expected {expected}, but the {compression.name} data are empty", file=file
                )
            content = _mapped(decompressed)
    inner = _compression_of(content[:4].tobytes())
    if inner is not None:
        raise DatasetError.at(
            f"expected data that are compressed once, but found {inner.name} data within {compression.name}"
            " data",
            file=file,
        )
    return content


def _compression_of(start: bytes) -> _Compression | None:
    for compression in _COMPRESSIONS:
        if start.startswith(compression.signatures):
            return compression
    return None


def _mapped(stream: IO[bytes] | FileIO) -> Bytes:
    return np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _decompress(
    compression: _Compression,
    path: Path,
    decompressed: IO[bytes],
    file: str,
    limits: Limits,
    on_progress: OnProgress | None,
) -> int:
    written = 0
    with pa.OSFile(str(path), "r") as source:
        max_bytes = limits.unpacked(source.size())
        for chunk in _chunks(compression, source, file):
            written += len(chunk)
            if written > max_bytes:
                raise _too_much(compression, file, max_bytes, limits)
            decompressed.write(chunk)
            if on_progress is not None:
                on_progress(source.tell(), source.size())
    decompressed.flush()
    return written


def _chunks(compression: _Compression, source: pa.OSFile, file: str) -> Iterator[bytes]:
    """Yield decompressed bytes, at most `_CHUNK_BYTES` each."""
    try:
        if compression.codec == "gzip":
            yield from _gzip_chunks(source)
        else:
            with pa.CompressedInputStream(source, compression.codec) as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    yield chunk
    except zlib.error as error:
        raise DatasetError.at(_damage(compression, str(error)), file=file) from error
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow reports damage as an OSError without an errno.
        raise DatasetError.at(_damage(compression, str(error)), file=file) from error


def _gzip_chunks(source: pa.OSFile) -> Iterator[bytes]:
    """Yield the bytes of all members; zeros after a member are padding, which gzip ignores and Arrow refuses.

    Raises:
        zlib.error: The data are damaged or truncated.
    """
    member, data = zlib.decompressobj(_GZIP_WINDOW), b""
    while data or (data := source.read(_GZIP_BYTES)):
        if member.eof:
            data = data.lstrip(b"\0")
            if not data:
                continue
            member = zlib.decompressobj(_GZIP_WINDOW)
        yield member.decompress(data, _CHUNK_BYTES)
        data = member.unused_data if member.eof else member.unconsumed_tail
    yield member.flush()
    if not member.eof:
        raise zlib.error("Truncated")


def _too_much(compression: _Compression, file: str, max_bytes: int, limits: Limits) -> DatasetError:
    times = (
        " (RANKERY_MAX_UNPACKED_BYTES)"
        if max_bytes == limits.unpacked_bytes
        else f", {limits.unpacked_ratio} times their compressed size (RANKERY_MAX_UNPACKED_RATIO)"
    )
    limit = f"expected {compression.name} data of at most {max_bytes:,} uncompressed bytes{times}"
    return DatasetError.at(f"{limit}, but found more", file=file)


def _damage(compression: _Compression, reported: str) -> str:
    if "Truncated" in reported:
        return f"expected complete {compression.name} data, but the file ends early; upload it again"
    if "too much memory" in reported:
        return f"expected {compression.name} data with a window of at most 128 MiB, but found a larger one"
    reason = reported.rpartition(": ")[2]
    return (
        f"expected valid {compression.name} data, but the file is damaged: {reason[:1].lower()}{reason[1:]}"
    )
