"""Store pieces of resumable uploads, the bodies of requests, in parts; read complete uploads."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import anyio
import structlog
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from app.http.bodies import too_large
from app.http.services import Services
from app.uploads.protocol import CHECKSUM_MISMATCH, Checksum
from app.uploads.storage import BLOCK_BYTES, FileWriter
from core.errors import InvalidInput, NotFound, RankeryError
from core.store import Store, Transaction
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.keys import upload_part_key
from core.store.clock import utc_now
from core.store.tables import Upload, UploadPart

# A killed API process loses at most this much of an upload, or the whole body of a request with a checksum;
# the client sends it again.
PART_BYTES = 16 * 2**20

_log = structlog.stdlib.get_logger("rankery.uploads")


class PieceWriter:
    """Write the body of one request as parts of a resumable upload; its methods run in threads.

    A part counts once it is flushed to disk and recorded. With a checksum, all parts of the body are recorded
    together once the checksum matches. While the size of the file is deferred, each part is counted in the
    byte quota of the key; a declared size was counted in full.

    Args:
        writer: Id of the request, which is stored in the row of the upload.
        start: Offset of the first byte of the body in the file.
        checksum: The required checksum of the body, None for any.

    Attributes:
        position: Offset of the next byte.
    """

    def __init__(
        self, services: Services, upload: Upload, writer: str, start: int, checksum: Checksum | None
    ) -> None:
        self.position = start
        self._store, self._settings = services.store, services.settings
        self._upload_id, self._key_id = upload.id, upload.key_id
        self._is_deferred = upload.size_bytes is None
        self._writer = writer
        self._checksum = checksum
        self._digest = checksum.hash() if checksum else None
        self._stored: list[UploadPart] = []
        self._file: FileWriter | None = None
        self._part_start = start

    def write(self, block: bytes | bytearray) -> None:
        """Store a block.

        Raises:
            ByteQuotaExceeded: The bytes exceed the quota of the key.
            StoreFull: The disk has too little free space.
            UploadTakenOver: Another request has taken the upload over.
        """
        if not block:
            return
        if self._file is None:
            self._part_start = self.position
            key = upload_part_key(self._upload_id, self._part_name)
            self._file = FileWriter(self._store.artifacts, key, self._settings.min_free_bytes, self._digest)
        self._file.write(block)
        self.position += len(block)
        if self._file.size_bytes >= PART_BYTES:
            self._end_part()

    def finish(self) -> None:
        """Store the last part, and compare the checksum.

        Raises:
            ByteQuotaExceeded: The bytes exceed the quota of the key.
            HTTPException: 460 where the checksum is wrong; no part of the body is kept.
            UploadTakenOver: Another request has taken the upload over.
        """
        self._end_part()
        if self._checksum is None or self._digest is None:
            return
        if self._digest.digest() != self._checksum.digest:
            self._remove_stored()
            detail = f"the {self._checksum.algorithm} of the body differs from Upload-Checksum"
            raise HTTPException(CHECKSUM_MISMATCH, detail)
        self._record()

    def interrupt(self, tail: bytes | bytearray) -> None:
        """Keep the received bytes of a truncated body, unless a checksum covers the whole body."""
        try:
            if self._checksum is None:
                self.write(tail)
                self._end_part()
        except RankeryError:
            _log.warning("upload.tail_discarded", upload_id=self._upload_id, exc_info=True)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Remove all stored bytes that are not recorded."""
        if self._file is not None:
            self._file.abandon()
            self._file = None
        self._remove_stored()

    def require_upload(self) -> None:
        """Require that the upload was not deleted meanwhile.

        Raises:
            NotFound: The upload was deleted.
            StoreUnavailable: The database cannot be reached.
        """
        with self._store.read() as tx:
            tx.uploads.require(self._upload_id)

    @property
    def _part_name(self) -> str:
        return f"{self._part_start}-{self._writer}"

    def _end_part(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        file.close()
        self._stored.append(
            UploadPart(
                upload_id=self._upload_id,
                start=self._part_start,
                size_bytes=file.size_bytes,
                name=self._part_name,
            )
        )
        if self._checksum is None:
            self._record()
        elif self._is_deferred:
            with self._store.begin() as tx:
                self._check_quota(tx, sum(part.size_bytes for part in self._stored))

    def _record(self) -> None:
        if not self._stored:
            return
        expires_at = utc_now() + timedelta(hours=self._settings.upload_hours)
        with self._store.begin() as tx:
            # The upload is locked before the quota, as in all requests, so that transactions do not deadlock.
            tx.uploads.add_parts(self._upload_id, self._writer, self._stored, expires_at)
            if self._is_deferred:
                self._check_quota(tx, unrecorded_bytes=0)
        self._stored = []

    def _check_quota(self, tx: Transaction, unrecorded_bytes: int) -> None:
        tx.quotas.allow_bytes(self._key_id, self._settings.max_stored_bytes, unrecorded_bytes)

    def _remove_stored(self) -> None:
        for part in self._stored:
            self._store.artifacts.delete(upload_part_key(self._upload_id, part.name))
        self._stored = []


async def receive_piece(body: AsyncIterator[bytes], writer: PieceWriter, max_bytes: int) -> int:
    """Store the body of a request in constant memory; keep received bytes as `PieceWriter.interrupt` does.

    Args:
        writer: Writer of the body, called in threads.

    Returns:
        The offset of the next byte.

    Raises:
        ByteQuotaExceeded: The bytes exceed the quota of the key.
        HTTPException: 413 where the file is larger than `max_bytes`, 460 where the checksum is wrong.
        NotFound: The upload was deleted meanwhile.
        StoreFull: The disk has too little free space.
        UploadTakenOver: Another request has taken the upload over.
    """
    buffer = bytearray()
    try:
        async for chunk in body:
            if writer.position + len(buffer) + len(chunk) > max_bytes:
                raise too_large(max_bytes)
            buffer += chunk
            if len(buffer) >= BLOCK_BYTES:
                block, buffer = buffer, bytearray()
                await run_in_threadpool(writer.write, block)
        await run_in_threadpool(writer.write, buffer)
        buffer = bytearray()
        await run_in_threadpool(writer.finish)
    except (RankeryError, OSError):  # the part in progress cannot be kept
        await run_in_threadpool(writer.abandon)
        await run_in_threadpool(writer.require_upload)
        raise
    except BaseException:
        with anyio.CancelScope(shield=True):  # the server may be shutting down
            await run_in_threadpool(writer.interrupt, buffer)
        raise
    return writer.position


@dataclass(frozen=True)
class StoredUpload:
    """A complete upload.

    Attributes:
        filename: File name sent by the client, `upload` without one.
        sha256: Hexadecimal digest of its bytes; empty until it was used.
        parts: Its parts; empty once it was used.
    """

    id: str
    filename: str
    size_bytes: int
    sha256: str
    parts: Sequence[UploadPart]

    def blocks(self, artifacts: Artifacts) -> Iterator[bytes]:
        """Yield the bytes of the upload in blocks.

        Raises:
            NotFound: The upload was deleted meanwhile.
        """
        for part in self.parts:
            with artifacts.open(upload_part_key(part.upload_id, part.name)) as file:
                while block := file.read(BLOCK_BYTES):
                    yield block


def find_complete(store: Store, upload_id: str, key_id: str | None) -> StoredUpload:
    """Return a complete upload.

    Args:
        key_id: API key of its owner, None without authentication.

    Raises:
        InvalidInput: The key has no such upload, or it is not complete.
    """
    with store.read() as tx:
        try:
            upload = tx.uploads.get(upload_id, key_id)
        except NotFound as error:
            raise InvalidInput.at("", f"{error}; it may have expired") from error
        parts = tx.uploads.parts(upload_id)
    if upload.size_bytes is None or upload.received_bytes < upload.size_bytes:
        size = "?" if upload.size_bytes is None else f"{upload.size_bytes:,}"
        detail = f"is not complete: {upload.received_bytes:,} of {size} bytes have arrived"
        raise InvalidInput.at("", detail)
    return StoredUpload(upload.id, upload.filename or "upload", upload.size_bytes, upload.sha256 or "", parts)
