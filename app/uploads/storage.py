"""Write uploaded bytes to the artifact store, block by block."""

import contextlib
from types import TracebackType
from typing import Any, BinaryIO, Self

from core.errors import StoreFull
from core.store.artifacts.artifacts import Artifacts

# Bytes written in one hop to a thread; the server delivers chunks of 64 KiB.
BLOCK_BYTES = 2**20


def require_room(artifacts: Artifacts, min_free_bytes: int, expected_bytes: int) -> None:
    """Refuse an upload that would leave too little free disk space.

    Raises:
        StoreFull: There is too little free space.
    """
    free_bytes = artifacts.free_bytes()
    if free_bytes - expected_bytes < min_free_bytes:
        left = f"{free_bytes:,} bytes left, of which {min_free_bytes:,} must stay free"
        raise StoreFull(f"the disk of the uploads has {left}")


class FileWriter:
    """Write one artifact in blocks; it becomes visible when the `with` block succeeds or `close` is called.

    Args:
        min_free_bytes: Space that must stay free on the disk.
        digest: A `hashlib` hash to update with the bytes, None for no checksum.

    Attributes:
        size_bytes: Number of bytes written.
    """

    def __init__(self, artifacts: Artifacts, key: str, min_free_bytes: int, digest: Any = None) -> None:
        self.size_bytes = 0
        self._artifacts = artifacts
        self._key = key
        self._min_free_bytes = min_free_bytes
        self._digest = digest
        self._open = contextlib.ExitStack()
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def write(self, block: bytes | bytearray) -> None:
        """Write a block.

        Raises:
            StoreFull: The disk has too little free space.
        """
        if not block:
            return
        require_room(self._artifacts, self._min_free_bytes, len(block))
        if self._stream is None:
            self._stream = self._open.enter_context(self._artifacts.writing(self._key))
        try:
            self._stream.write(block)
        except OSError:
            with self._open:  # `Artifacts.writing` converts the error of a full disk
                raise
        if self._digest is not None:
            self._digest.update(block)
        self.size_bytes += len(block)

    def close(self) -> None:
        """Complete the artifact and make it visible.

        Raises:
            StoreFull: The disk has too little free space.
        """
        self._open.close()

    def abandon(self) -> None:
        """Remove the bytes; no artifact appears."""
        with contextlib.suppress(_Abandoned), self:
            raise _Abandoned


class _Abandoned(Exception):
    pass
