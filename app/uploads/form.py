"""Receive the files of a form in constant memory, and record the new objects in one transaction."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import JSONDecodeError
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from fastapi import Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.bodies import parse_json, too_large
from app.http.caller import caller_in
from app.http.idempotency import IdempotentRequest
from app.http.pointers import pointers_below
from app.http.schemas import FILE_PART
from app.http.services import Services
from app.uploads.multipart import FormParser
from app.uploads.resumable import StoredUpload, find_complete
from app.uploads.storage import BLOCK_BYTES, FileWriter, require_room
from core.errors import ArtifactDamaged, InputProblem, InvalidInput
from core.store import Job, Transaction

# Boundaries, part headers and text fields around the files.
ENVELOPE_BYTES = 2 * 2**20
FILE = "file"
T = TypeVar("T")


@dataclass(frozen=True)
class UploadKeys:
    """Artifact keys of the files of a form, chosen before their bytes arrive.

    Attributes:
        by_field: The key of each part that may be a file.
        folders: All folders of these keys. They are removed when a form is interrupted or refused.
    """

    by_field: Mapping[str, str]
    folders: Sequence[str]

    @classmethod
    def single(cls, key: str, folder: str) -> "UploadKeys":
        """Return the keys of a form with one file."""
        return cls(MappingProxyType({FILE: key}), (folder,))


@dataclass(frozen=True)
class ReceivedFile:
    """A completely received file.

    Attributes:
        filename: File name sent by the client, without folders.
        sha256: Hexadecimal digest of its bytes.
        upload_id: The resumable upload with its bytes, None where they came with the request.
    """

    filename: str
    size_bytes: int
    sha256: str
    upload_id: str | None = None


@dataclass(frozen=True)
class ReceivedForm:
    """A completely received form.

    Attributes:
        files: The files by the name of their part.
        fields: The text fields by name.
    """

    files: dict[str, ReceivedFile]
    fields: dict[str, str]

    @property
    def request_digest(self) -> str:
        """Digest of the files and fields, for idempotency; independent of their order."""
        files = {field: [file.filename, file.sha256] for field, file in self.files.items()}
        content = json.dumps([files, self.fields], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def options(self, json_fields: Iterable[str]) -> tuple[dict[str, Any], list[InputProblem]]:
        """Return all fields except name and project, and a problem for each invalid field, which is left out.

        Args:
            json_fields: Fields whose JSON is parsed.
        """
        options: dict[str, Any] = {
            name: value for name, value in self.fields.items() if name not in ("name", "project")
        }
        problems = []
        for name in json_fields:
            if name in options:
                try:
                    options[name] = parse_json(options[name].encode())
                except JSONDecodeError as error:
                    problems.append(InputProblem(f"/{name}", f"must be JSON: {error.msg}"))
                    del options[name]
        return options, problems


class FormReceiver:
    """Write the files of a form as they arrive; they become visible together or not at all.

    A `with` block that fails removes all of them.

    Args:
        key_id: API key of the request, None without authentication.
        max_bytes: Size limit of all files together.
    """

    def __init__(self, services: Services, key_id: str | None, keys: UploadKeys, max_bytes: int) -> None:
        self._store = services.store
        self._min_free_bytes = services.settings.min_free_bytes
        self._key_id = key_id
        self._keys = keys
        self._max_bytes = max_bytes
        self._open_files = contextlib.ExitStack()
        self._incoming: dict[str, _IncomingFile] = {}
        self._uploads: dict[str, tuple[str, str]] = {}
        self._copied: dict[str, ReceivedFile] = {}
        self._blocks: list[tuple[FileWriter, bytearray]] = []
        self._buffered_bytes = 0
        self._received_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._open_files.__exit__(kind, error, trace)
        except BaseException:
            self._remove()
            raise
        if error is not None:
            self._remove()

    def begin(self, field: str, filename: str) -> None:
        """Start the next file."""
        digest = hashlib.sha256()
        writer = self._open_files.enter_context(self._writer(field, digest))
        self._incoming[field] = _IncomingFile(filename, writer, digest)
        self._blocks.append((writer, bytearray()))

    def take(self, piece: bytes) -> None:
        """Buffer bytes of the current file until the next block is written.

        Raises:
            HTTPException: 413 when the files have grown too large.
        """
        self._count(len(piece))
        self._blocks[-1][1].extend(piece)
        self._buffered_bytes += len(piece)

    def add_upload(self, field: str, upload_id: str, pointer: str | None = None) -> None:
        """Register a finished resumable upload as a file of the form; `copy_uploads` copies its bytes.

        Args:
            pointer: Pointer of its errors, the field by default.
        """
        self._uploads[field] = upload_id, pointer or f"/{field}"

    def copy_uploads(self) -> None:
        """Copy the added uploads; blocks.

        Raises:
            InvalidInput: An upload does not exist, is not complete or is empty.
            HTTPException: 413 when all files together are too large.
            StoreFull: The disk has too little free space.
        """
        for field, (upload_id, pointer) in self._uploads.items():
            with pointers_below(pointer):
                self._copied[field] = self._copy(field, find_complete(self._store, upload_id, self._key_id))

    async def flush(self, at_least: int = 0) -> None:
        """Write the buffered bytes in a thread once they fill a block."""
        if self._blocks and self._buffered_bytes >= at_least:
            blocks, self._buffered_bytes = self._blocks, 0
            self._blocks = [(blocks[-1][0], bytearray())]
            await run_in_threadpool(_write, blocks)

    def files(self) -> dict[str, ReceivedFile]:
        """Return the received files by their part.

        Raises:
            InvalidInput: A file is empty.
        """
        for field, file in self._incoming.items():
            if file.writer.size_bytes == 0:
                raise InvalidInput.at(f"/{field}", f"{file.filename or 'the file'} is empty")
        return {field: file.received() for field, file in self._incoming.items()} | self._copied

    def _copy(self, field: str, upload: StoredUpload) -> ReceivedFile:
        file = ReceivedFile(upload.filename, upload.size_bytes, upload.sha256, upload.id)
        self._count(file.size_bytes)
        if file.size_bytes == 0:
            raise InvalidInput.at("", "is empty")
        if file.sha256:  # used before; an idempotent replay returns the stored response
            return file
        require_room(self._store.artifacts, self._min_free_bytes, file.size_bytes)
        digest = hashlib.sha256()
        with self._writer(field, digest) as writer:
            for block in upload.blocks(self._store.artifacts):
                writer.write(block)
            if writer.size_bytes != file.size_bytes:
                raise ArtifactDamaged(self._keys.by_field[field], "the parts of its upload are not complete")
        return replace(file, sha256=digest.hexdigest())

    def _writer(self, field: str, digest: Any) -> FileWriter:
        return FileWriter(self._store.artifacts, self._keys.by_field[field], self._min_free_bytes, digest)

    def _count(self, n_bytes: int) -> None:
        self._received_bytes += n_bytes
        if self._received_bytes > self._max_bytes:
            raise too_large(self._max_bytes)

    def _remove(self) -> None:
        for folder in self._keys.folders:
            self._store.artifacts.delete(folder)


@dataclass(frozen=True)
class _IncomingFile:
    filename: str
    writer: FileWriter
    digest: Any

    def received(self) -> ReceivedFile:
        return ReceivedFile(self.filename, self.writer.size_bytes, self.digest.hexdigest())


def _write(blocks: Iterable[tuple[FileWriter, bytearray]]) -> None:
    for writer, block in blocks:
        writer.write(block)


async def receive_form(
    request: Request,
    services: Services,
    keys: UploadKeys,
    texts: Mapping[str, int],
    max_bytes: int,
    check: Callable[[ReceivedForm], T],
) -> T:
    """Stream the files of a multipart body into the artifact store, and return the checked form.

    Args:
        texts: Names of the text fields that may come with them, and their largest sizes in bytes.
        max_bytes: Size limit of all files together.
        check: Converts the received form, or refuses it.

    Raises:
        InvalidInput: The body is not multipart, is cut short, or holds a part that is unknown, empty or
            refused by `check`.
        HTTPException: 413 when the files are larger than `max_bytes`.
        StoreFull: The disk has too little free space.
    """
    _refuse_declared_size(request, services, max_bytes)
    key_id = caller_in(request.scope).key_id
    async with contextmanager_in_threadpool(FormReceiver(services, key_id, keys, max_bytes)) as receiver:
        content_type = request.headers.get("content-type", "")
        parser = FormParser(content_type, tuple(keys.by_field), texts, receiver)
        received_bytes = 0
        async for chunk in request.stream():
            received_bytes += len(chunk)
            if received_bytes > max_bytes + ENVELOPE_BYTES:
                raise too_large(max_bytes)
            parser.feed(chunk)
            await receiver.flush(at_least=BLOCK_BYTES)
        parser.finish()
        await receiver.flush()
        await run_in_threadpool(receiver.copy_uploads)
        return check(ReceivedForm(receiver.files(), parser.fields))


def _refuse_declared_size(request: Request, services: Services, max_bytes: int) -> None:
    """Refuse a form whose Content-Length exceeds the limit or the free space."""
    declared = request.headers.get("content-length", "")
    expected_bytes = int(declared) if declared.isdecimal() else 0
    if expected_bytes > max_bytes + ENVELOPE_BYTES:
        raise too_large(max_bytes)
    require_room(services.store.artifacts, services.settings.min_free_bytes, expected_bytes)


def record_files(
    services: Services,
    key_id: str | None,
    idempotency: IdempotentRequest,
    files: Iterable[ReceivedFile],
    folders: Sequence[str],
    record: Callable[[Transaction], tuple[JSONResponse, list[Job]]],
) -> Response:
    """Record the objects of received files and queue their jobs, in one transaction; blocks.

    Args:
        key_id: API key of the request, None without authentication.
        files: The files; their resumable uploads are marked as used.
        folders: Folders of the files, which are removed on errors.
        record: Records the objects, and returns the response and the queued jobs.

    Raises:
        NotFound: A resumable upload has been deleted meanwhile.
        WrongState: A resumable upload was used before.
    """
    try:
        with idempotency.begin(services.store) as tx:
            for file in files:
                if file.upload_id is not None:
                    tx.uploads.use(file.upload_id, key_id, file.sha256)
            response, jobs = record(tx)
            created = idempotency.keep(tx, response)
    except BaseException:
        services.store.artifacts.delete_all(folders)
        raise
    services.wake_workers(*jobs)
    return created


def file_body(
    description: str,
    fields: Mapping[str, dict[str, Any]],
    required: Sequence[str],
    examples: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """Describe the multipart body of a form with one file, for the OpenAPI document.

    Args:
        required: The required text fields.
        examples: Bodies by name, each with its summary.
    """
    file = {
        **FILE_PART,
        "description": f"{description}. Or the text `upload:upl_…`, a finished resumable upload",
    }
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": [FILE, *required],
        "properties": {FILE: file, **fields},
    }
    return {"required": True, "content": {"multipart/form-data": {"schema": schema, "examples": examples}}}


def missing_file(files: Mapping[str, ReceivedFile], noun: str) -> list[InputProblem]:
    """Return a problem for a form without its file, or an empty list."""
    if FILE in files:
        return []
    return [InputProblem(f"/{FILE}", f"required: the {noun}, as a part with this name and a filename")]
