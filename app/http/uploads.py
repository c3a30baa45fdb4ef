"""Stream uploads from the socket to the artifact store in constant memory."""

import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from app.http.bodies import too_large
from app.http.disk_space import require_room
from app.http.multipart import UploadParser
from core.errors import ArtifactDamaged, InvalidInput
from core.store import Transaction
from core.store.artifacts.artifacts import Artifacts

# One hop to a thread for this much, rather than for each chunk of 64 KiB that the server hands over.
BLOCK_BYTES = 2**20
# Boundaries, part headers and text fields around the files.
ENVELOPE_BYTES = 2 * 2**20


@dataclass(frozen=True)
class ReceivedFile:
    """A completely received file.

    Attributes:
        filename: Name that the client gave it, without folders.
        size_bytes: Its length.
        sha256: Hexadecimal digest of its bytes.
        upload_id: The resumable upload that it came in, None where it came with the request.
    """

    filename: str
    size_bytes: int
    sha256: str
    upload_id: str | None = None

    def use(self, tx: Transaction, key_id: str | None) -> None:
        """Use its resumable upload up, in the transaction that records what it becomes.

        Args:
            tx: The transaction.
            key_id: The API key of the upload, None where none is needed.

        Raises:
            NotFound: The upload has been deleted meanwhile.
            WrongState: It was used before.
        """
        if self.upload_id is not None:
            tx.uploads.use(self.upload_id, key_id, self.sha256)


class FinishedUpload(Protocol):
    """A resumable upload that may become a file of a form."""

    @property
    def file(self) -> ReceivedFile:
        """The file; its checksum is empty until it has become a file of something."""

    def blocks(self) -> Iterator[bytes]:
        """Yield its bytes."""


class FinishedUploads(Protocol):
    """The resumable uploads of a caller."""

    def find(self, upload_id: str) -> FinishedUpload:
        """Return a finished upload.

        Raises:
            InvalidInput: There is none, or it is not complete.
        """


@dataclass(frozen=True)
class ReceivedUpload:
    """A completely received upload.

    Attributes:
        files: The files by the name of their part.
        fields: The text fields by name.
    """

    files: dict[str, ReceivedFile]
    fields: dict[str, str]


class Reception:
    """Write the files of an upload as they arrive; they become visible together or not at all.

    Args:
        artifacts: Where they go.
        key_of: The key of each part's file.
        max_bytes: The most bytes of all files together.
        min_free_bytes: The space that stays free on the disk.
        finished: What files may be taken from that are named rather than sent.
    """

    def __init__(
        self,
        artifacts: Artifacts,
        key_of: Callable[[str], str],
        max_bytes: int,
        min_free_bytes: int = 0,
        finished: FinishedUploads | None = None,
    ) -> None:
        self._artifacts = artifacts
        self._key_of = key_of
        self._max_bytes = max_bytes
        self._min_free_bytes = min_free_bytes
        self._finished = finished
        self._referred: dict[str, tuple[str, str]] = {}
        self._copied: dict[str, ReceivedFile] = {}
        self._open_files = contextlib.ExitStack()
        self._arriving: dict[str, _ArrivingFile] = {}
        self._blocks: list[tuple[_ArrivingFile, bytearray]] = []
        self._held_bytes = 0
        self._received_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open_files.__exit__(kind, error, trace)

    def begin(self, field: str, filename: str) -> None:
        """Start the next file."""
        self._arriving[field] = _ArrivingFile(self._key_of(field), filename)
        self._blocks.append((self._arriving[field], bytearray()))

    def take(self, piece: bytes) -> None:
        """Buffer bytes of the current file until the next block is written.

        Raises:
            HTTPException: 413 when the upload has grown too large.
        """
        self._received_bytes += len(piece)
        if self._received_bytes > self._max_bytes:
            raise too_large(self._max_bytes)
        self._blocks[-1][1].extend(piece)
        self._held_bytes += len(piece)

    def refer(self, field: str, upload_id: str, pointer: str | None = None) -> None:
        """Take a finished upload for a file; `copy_referred` copies it.

        Args:
            field: The file.
            upload_id: The upload.
            pointer: What mistakes point at; the field when left out.
        """
        self._referred[field] = upload_id, pointer or f"/{field}"

    def copy_referred(self) -> None:
        """Copy the finished uploads that were named, in a thread.

        Raises:
            InvalidInput: One does not exist, is not complete or is empty.
            HTTPException: 413 when all files together are too large.
            StoreFull: There is no room for it.
        """
        for field, (upload_id, pointer) in self._referred.items():
            if self._finished is None:
                raise InvalidInput.at(pointer, "cannot be a resumable upload here; send the file")
            try:
                self._copied[field] = self._copy(field, self._finished.find(upload_id))
            except InvalidInput as invalid:
                raise invalid.below(pointer) from invalid

    async def flush(self, at_least: int = 0) -> None:
        """Write the buffered bytes in a thread once they fill a block."""
        if self._blocks and self._held_bytes >= at_least:
            blocks, self._held_bytes = self._blocks, 0
            self._blocks = [(blocks[-1][0], bytearray())]
            await run_in_threadpool(self._write, blocks)

    def files(self) -> dict[str, ReceivedFile]:
        """Return the received files and fields.

        Raises:
            InvalidInput: A file is empty.
        """
        for field, file in self._arriving.items():
            if file.size_bytes == 0:
                raise InvalidInput.at(f"/{field}", "is empty")
        return {field: file.received() for field, file in self._arriving.items()} | self._copied

    def _copy(self, field: str, upload: FinishedUpload) -> ReceivedFile:
        self._received_bytes += upload.file.size_bytes
        if self._received_bytes > self._max_bytes:
            raise too_large(self._max_bytes)
        if upload.file.size_bytes == 0:
            raise InvalidInput.at("", "is empty")
        if upload.file.sha256:  # used before: of interest where the same request is repeated
            return upload.file
        require_room(self._artifacts, self._min_free_bytes, upload.file.size_bytes)
        sha256 = hashlib.sha256()
        with self._artifacts.writing(self._key_of(field)) as stream:
            for block in upload.blocks():
                sha256.update(block)
                stream.write(block)
            if stream.tell() != upload.file.size_bytes:
                raise ArtifactDamaged(self._key_of(field), "the parts of its upload are not complete")
        return replace(upload.file, sha256=sha256.hexdigest())

    def _write(self, blocks: "list[tuple[_ArrivingFile, bytearray]]") -> None:
        for file, block in blocks:
            require_room(self._artifacts, self._min_free_bytes, len(block))
            if file.stream is None:
                file.stream = self._open_files.enter_context(self._artifacts.writing(file.key))
            file.write(block)


class _ArrivingFile:
    def __init__(self, key: str, filename: str) -> None:
        self.key = key
        self.stream: BinaryIO | None = None
        self.size_bytes = 0
        self._filename = filename
        self._hash = hashlib.sha256()

    def write(self, block: bytearray) -> None:
        if self.stream is None:
            raise RuntimeError("the file must be open")
        self.size_bytes += len(block)
        self._hash.update(block)
        self.stream.write(block)

    def received(self) -> ReceivedFile:
        return ReceivedFile(self._filename, self.size_bytes, self._hash.hexdigest())


@contextlib.contextmanager
def receiving(
    artifacts: Artifacts,
    key_of: Callable[[str], str],
    folders: Sequence[str],
    max_bytes: int,
    min_free_bytes: int = 0,
    finished: FinishedUploads | None = None,
) -> Iterator[Reception]:
    """Receive an upload and remove all of it if it is interrupted.

    Args:
        artifacts: Where it goes.
        key_of: The key of each part's file.
        folders: All folders that these keys may lie in.
        max_bytes: The most bytes of all files together.
        min_free_bytes: The space that stays free on the disk.
        finished: What files may be taken from that are named rather than sent.

    Raises:
        StoreFull: There is no room for it.
    """
    try:
        with Reception(artifacts, key_of, max_bytes, min_free_bytes, finished) as reception:
            yield reception
    except BaseException:
        for folder in folders:
            artifacts.delete(folder)
        raise


def refuse_declared_size(headers: Headers, max_bytes: int, artifacts: Artifacts, min_free_bytes: int) -> None:
    """Refuse an upload whose Content-Length exceeds the limit or the free space.

    Raises:
        HTTPException: 413.
        StoreFull: There is no room for it.
    """
    declared = headers.get("content-length", "")
    coming_bytes = int(declared) if declared.isdecimal() else 0
    if coming_bytes > max_bytes + ENVELOPE_BYTES:
        raise too_large(max_bytes)
    require_room(artifacts, min_free_bytes, coming_bytes)


async def receive_upload(
    body: AsyncIterator[bytes],
    content_type: str,
    reception: Reception,
    files: tuple[str, ...],
    texts: Mapping[str, int],
    max_bytes: int,
) -> ReceivedUpload:
    """Stream the files of a multipart body into the artifact store.

    Args:
        body: The request's body in pieces.
        content_type: The request's Content-Type, which carries the boundary.
        reception: Takes the files; writes happen off the event loop.
        files: Names of the parts that may be files.
        texts: Names of the text fields that may come with them, and their largest sizes in bytes.
        max_bytes: The most bytes of all files together.

    Raises:
        InvalidInput: When the body is not multipart, is cut short, or holds a part that is unknown or empty.
        HTTPException: 413 when the upload is larger than `max_bytes`.
    """
    parser = UploadParser(content_type, files, texts, reception)
    received = 0
    async for chunk in body:
        received += len(chunk)
        if received > max_bytes + ENVELOPE_BYTES:
            raise too_large(max_bytes)
        parser.feed(chunk)
        await reception.flush(at_least=BLOCK_BYTES)
    parser.finish()
    await reception.flush()
    await run_in_threadpool(reception.copy_referred)
    return ReceivedUpload(reception.files(), parser.fields)
