"""Reading an object that is on the other side of a network as if it were a file."""

import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

# What reads line by line or block by block asks the storage once for this much.
BUFFER_BYTES = 2**23


class _Ranges(io.RawIOBase):
    """An object of known size; every read asks for just the bytes wanted."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._position = 0

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
        stop = min(self._position + len(buffer), self._size)
        if stop <= self._position:
            return 0
        content = self._fetch(self._position, stop)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)

    def readall(self) -> bytes:
        content = self._fetch(self._position, self._size) if self._position < self._size else b""
        self._position += len(content)
        return content


def open_ranges(size: int, fetch: Callable[[int, int], bytes]) -> BinaryIO:
    """Open an object to read.

    Args:
        size: Its size in bytes.
        fetch: Returns the bytes from a position up to, but without, another.
    """
    return cast("BinaryIO", io.BufferedReader(_Ranges(size, fetch), BUFFER_BYTES))
