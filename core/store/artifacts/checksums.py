"""SHA-256 of files while they are written and read."""

import hashlib
import io
from typing import Any, BinaryIO

_BLOCK_BYTES = 2**20


class ChecksummedFile(io.BufferedIOBase):
    """A sequentially written file that computes its checksum.

    Args:
        file: File that receives the bytes; its owner closes it.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = hashlib.sha256()
        self.size_bytes = 0

    @property
    def sha256(self) -> str:
        """The checksum so far, in hexadecimal."""
        return self._checksum.hexdigest()

    def writable(self) -> bool:
        """Return True: the file is writable."""
        return True

    def write(self, content: Any) -> int:
        """Append bytes."""
        written = self._file.write(content)
        self._checksum.update(content)
        self.size_bytes += written
        return written

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size_bytes

    def flush(self) -> None:
        """Flush the underlying file."""
        self._file.flush()


def file_sha256(file: BinaryIO) -> str:
    """Return the checksum of a file from its position to its end, in hexadecimal."""
    checksum = hashlib.sha256()
    while block := file.read(_BLOCK_BYTES):
        checksum.update(block)
    return checksum.hexdigest()
