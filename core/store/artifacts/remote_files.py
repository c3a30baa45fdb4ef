"""Read a remote object as a file, by range requests."""

import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

# Smallest range request, for readers by line or by block.
BUFFER_BYTES = 2**20
# Largest read-ahead of sequential reads; fewer requests mean less latency.
READ_AHEAD_BYTES = 2**23


class _Ranges(io.RawIOBase):
    """A remote object read in ranges that grow during sequential reads."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._position = 0
        self._piece = memoryview(b"")
        self._piece_stop = 0
        self._ahead = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise ValueError("the position lies before the start")
        self._position = origin + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        if self._position >= self._size:
            return 0
        start = self._position - (self._piece_stop - len(self._piece))
        if not 0 <= start < len(self._piece):
            self._load(len(buffer))
            start = 0
        content = self._piece[start : start + len(buffer)]
        buffer[: len(content)] = content
        self._position += len(content)
        if self._position == self._piece_stop:
            self._piece = memoryview(b"")  # free the range before the next range is fetched
        return len(content)

    def _load(self, wanted: int) -> None:
        is_sequential = self._position == self._piece_stop
        self._ahead = min(max(2 * self._ahead, wanted), READ_AHEAD_BYTES) if is_sequential else 0
        stop = min(self._position + max(wanted, self._ahead), self._size)
        self._piece, self._piece_stop = memoryview(self._fetch(self._position, stop)), stop

    def readall(self) -> bytes:
        content = self._fetch(self._position, self._size) if self._position < self._size else b""
        self._position += len(content)
        return content


def open_ranges(size: int, fetch: Callable[[int, int], bytes]) -> BinaryIO:
    """Open a remote object as a buffered, seekable binary file.

    Args:
        size: Size of the object in bytes.
        fetch: Called with `start` and `stop`; returns the bytes of this half-open range.
    """
    return cast("BinaryIO", io.BufferedReader(_Ranges(size, fetch), BUFFER_BYTES))
