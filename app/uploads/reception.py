"""Store the body of a request as parts of a resumable upload."""

import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import BinaryIO

import anyio
import structlog
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from app.http.bodies import too_large
from app.http.disk_space import require_room
from app.http.services import Services
from app.uploads.protocol import CHECKSUM_MISMATCH, Checksum
from core.errors import RankeryError
from core.store.artifacts.keys import upload_part_key
from core.store.clock import utc_now
from core.store.tables import UploadPart

# A killed API process loses at most this much of an upload, and the client sends it again.
PART_BYTES = 16 * 2**20
# One hop to a thread for this much.
BLOCK_BYTES = 2**20

_log = structlog.stdlib.get_logger("rankery.uploads")


class Arrival:
    """The bytes of one request on their way into the store; its methods run in threads.

    A part counts once it is stored safely, on a disk flushed to it, and on record. With a checksum all parts
    count together once it is right.

    Args:
        services: Where they go.
        upload_id: The upload.
        writer: The request, as the upload knows it.
        start: Where its first byte belongs.
        checksum: What the body must hash to, None for anything.

    Attributes:
        position: Where the next byte belongs.
    """

    def __init__(
        self, services: Services, upload_id: str, writer: str, start: int, checksum: Checksum | None
    ) -> None:
        self.position = start
        self._store, self._settings = services.store, services.settings
        self._upload_id = upload_id
        self._writer = writer
        self._checksum = checksum
        self._hash = checksum.hash() if checksum else None
        self._stored: list[UploadPart] = []
        self._open = contextlib.ExitStack()
        self._stream: BinaryIO | None = None
        self._part = UploadPart()

    def write(self, block: bytes | bytearray) -> None:
        """Store a block.

        Raises:
            StoreFull: There is no room for it.
            UploadTakenOver: Another request has taken the upload over.
        """
        if not block:
            return
        if self._stream is None:
            self._stream = self._begin_part()
        require_room(self._store.artifacts, self._settings.min_free_bytes, len(block))
        self._put(self._stream, block)
        if self._hash is not None:
            self._hash.update(block)
        self.position += len(block)
        self._part.size_bytes += len(block)
        if self._part.size_bytes >= PART_BYTES:
            self._end_part()

    def finish(self) -> None:
        """Store what is left, and check it.

        Raises:
            HTTPException: 460 where the checksum is wrong; nothing of the body counts.
            UploadTakenOver: Another request has taken the upload over.
        """
        self._end_part()
        if self._checksum is None or self._hash is None:
            return
        if self._hash.digest() != self._checksum.digest:
            self._remove_stored()
            detail = f"the {self._checksum.algorithm} of the body is not that of Upload-Checksum"
            raise HTTPException(CHECKSUM_MISMATCH, detail)
        self._record()

    def interrupt(self, rest: bytes | bytearray) -> None:
        """Keep what has arrived of a body that was cut short, unless it cannot be checked any more."""
        try:
            if self._checksum is None:
                self.write(rest)
                self._end_part()
        except RankeryError:
            _log.warning("upload.rest_lost", upload_id=self._upload_id, exc_info=True)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Remove what does not count."""
        # Whatever it is that ended the block, the part must not appear.
        with contextlib.suppress(_Abandoned), self._open:
            self._stream = None
            raise _Abandoned
        self._remove_stored()

    def require_upload(self) -> None:
        """Raise where the upload was deleted meanwhile, with all that was stored of it.

        Raises:
            NotFound: It was.
            StoreUnavailable: The database cannot be reached.
        """
        with self._store.read() as tx:
            tx.uploads.require(self._upload_id)

    def _begin_part(self) -> BinaryIO:
        name = f"{self.position}-{self._writer}"
        self._part = UploadPart(upload_id=self._upload_id, start=self.position, size_bytes=0, name=name)
        key = upload_part_key(self._upload_id, name)
        return self._open.enter_context(self._store.artifacts.writing(key))

    def _put(self, stream: BinaryIO, block: bytes | bytearray) -> None:
        try:
            stream.write(block)
        except OSError:
            self._stream = None
            with self._open:  # where a full disk gets its name
                raise

    def _end_part(self) -> None:
        if self._stream is None:
            return
        self._stream = None
        self._open.close()
        self._stored.append(self._part)
        if self._checksum is None:
            self._record()

    def _record(self) -> None:
        if not self._stored:
            return
        expires_at = utc_now() + timedelta(hours=self._settings.upload_hours)
        with self._store.begin() as tx:
            tx.uploads.add_parts(self._upload_id, self._writer, self._stored, expires_at)
        self._stored = []

    def _remove_stored(self) -> None:
        for part in self._stored:
            self._store.artifacts.delete(upload_part_key(self._upload_id, part.name))
        self._stored = []


class _Abandoned(Exception):
    pass


async def receive_piece(body: AsyncIterator[bytes], arrival: Arrival, max_bytes: int) -> int:
    """Store the body of a request in constant memory; what has arrived is kept when it is cut short.

    Args:
        body: The body in pieces.
        arrival: Takes it, in threads.
        max_bytes: The most bytes of the file up to the end of the body.

    Returns:
        Where the next byte belongs.

    Raises:
        HTTPException: 413 where there are more, 460 where the checksum is wrong.
        NotFound: The upload was deleted meanwhile.
        StoreFull: There is no room for them.
        UploadTakenOver: Another request has taken the upload over.
    """
    buffer = bytearray()
    try:
        async for chunk in body:
            if arrival.position + len(buffer) + len(chunk) > max_bytes:
                raise too_large(max_bytes)
            buffer += chunk
            if len(buffer) >= BLOCK_BYTES:
                block, buffer = buffer, bytearray()
                await run_in_threadpool(arrival.write, block)
        await run_in_threadpool(arrival.write, buffer)
        buffer = bytearray()
        await run_in_threadpool(arrival.finish)
    except RankeryError:
        await run_in_threadpool(arrival.abandon)
        await run_in_threadpool(arrival.require_upload)
        raise
    except BaseException:
        with anyio.CancelScope(shield=True):  # the server may be on its way down
            await run_in_threadpool(arrival.interrupt, buffer)
        raise
    return arrival.position
