"""Uploads on their way from the socket to the artifact store, in constant memory."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO

from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from app.bodies import too_large
from app.multipart import FILE, UploadParser
from core.errors import InvalidInput

# One hop to a thread for this much, rather than for each chunk of 64 KiB that the server hands over.
BLOCK_BYTES = 2**20
# Boundaries, part headers and text fields around the file.
ENVELOPE_BYTES = 64 * 2**10


@dataclass(frozen=True)
class ReceivedFile:
    """A file that has fully arrived.

    Attributes:
        filename: Name that the client gave it, without folders.
        fields: The text fields sent with it.
        size_bytes: Its length.
        sha256: Hexadecimal digest of its bytes.
    """

    filename: str
    fields: dict[str, str]
    size_bytes: int
    sha256: str


class Receiver:
    """Writes one uploaded file while counting and hashing it."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._block = bytearray()
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def take(self, piece: bytes) -> None:
        """Hold a piece of the file until the next block is written.

        Raises:
            HTTPException: 413 when the file has grown too large.
        """
        self.size_bytes += len(piece)
        if self.size_bytes > self._max_bytes:
            raise too_large(self._max_bytes)
        self._block += piece

    async def flush(self, at_least: int = 1) -> None:
        """Write what is held, in a thread, once it is worth it."""
        if len(self._block) >= at_least:
            block, self._block = self._block, bytearray()
            await run_in_threadpool(self._write, block)

    def sha256(self) -> str:
        """Return the digest of what was written."""
        return self._hash.hexdigest()

    def _write(self, block: bytearray) -> None:
        self._hash.update(block)
        self._file.write(block)


def refuse_declared_size(headers: Headers, max_bytes: int) -> None:
    """Refuse an upload whose Content-Length already says that it is too large.

    Raises:
        HTTPException: 413.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes + ENVELOPE_BYTES:
        raise too_large(max_bytes)


async def receive_file(
    body: AsyncIterator[bytes],
    content_type: str,
    file: BinaryIO,
    max_bytes: int,
    text_fields: tuple[str, ...],
) -> ReceivedFile:
    """Stream the `file` part of a multipart body into an open file.

    Args:
        body: The request's body in pieces.
        content_type: The request's Content-Type, which carries the boundary.
        file: Where the bytes go; writes happen off the event loop.
        max_bytes: Largest file accepted.
        text_fields: Names of the text fields that may come with it.

    Raises:
        InvalidInput: When the body is not multipart, is cut short, or holds no file, two or an empty one.
        HTTPException: 413 when the file is larger than `max_bytes`.
    """
    receiver = Receiver(file, max_bytes)
    parser = UploadParser(content_type, text_fields, receiver.take)
    received = 0
    async for chunk in body:
        received += len(chunk)
        if received > max_bytes + ENVELOPE_BYTES:
            raise too_large(max_bytes)
        parser.feed(chunk)
        await receiver.flush(at_least=BLOCK_BYTES)
    parser.finish()
    if receiver.size_bytes == 0:
        raise InvalidInput.at(f"/{FILE}", "is empty")
    await receiver.flush()
    return ReceivedFile(parser.filename or "", parser.fields, receiver.size_bytes, receiver.sha256())
