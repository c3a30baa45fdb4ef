"""Routes of resumable uploads, by the tus protocol."""

import hashlib
import json
from datetime import datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.http.bodies import has_body, too_large
from app.http.caller import UseCaller
from app.http.idempotency import IdempotencyKey, UseIdempotencyKey
from app.http.openapi import etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.schemas import ResponseModel, example
from app.http.services import Services, UseServices
from app.uploads import protocol
from app.uploads.resumable import PieceWriter, receive_piece
from app.uploads.storage import require_room
from core.store import new_id
from core.store.clock import utc_now
from core.store.tables import Upload as UploadRow

router = Router(prefix=protocol.PATH, tags=["uploads"], route_class=JsonRoute)

_WRITER = "wrt_"

_EXAMPLE: dict[str, Any] = {
    "id": "upl_01k9x2m4q7c8v5n3b6r1",
    "filename": "train.txt.gz",
    "size_bytes": 4294967296,
    "received_bytes": 1073741824,
    "created_at": "2026-01-05T10:00:00Z",
    "expires_at": "2026-01-06T10:02:17Z",
}


class Upload(ResponseModel):
    """A resumable upload."""

    model_config = example(_EXAMPLE)

    id: str
    filename: str | None = Field(description="File name from `Upload-Metadata`; null without one")
    size_bytes: int | None = Field(description="Size of the file; null while deferred")
    received_bytes: int = Field(description="Number of stored bytes")
    created_at: datetime
    expires_at: datetime = Field(description="Time when the upload is removed if no further bytes arrive")


class UploadList(ResponseModel):
    """The open uploads of a caller, newest first."""

    items: list[Upload]


async def _tus_version(request: Request) -> None:
    protocol.require_version(request.headers.get("tus-resumable"))


_REQUIRE_TUS_VERSION = [Depends(_tus_version)]


@router.options(
    "", summary="Describe the upload protocol", status_code=HTTPStatus.NO_CONTENT, responses=problems()
)
def describe_protocol(services: UseServices) -> Response:
    """Return the supported version and extensions of tus, and the size limit of a file."""
    return Response(
        status_code=HTTPStatus.NO_CONTENT,
        headers={
            "Tus-Version": protocol.VERSION,
            "Tus-Extension": ",".join(protocol.EXTENSIONS),
            "Tus-Max-Size": str(services.settings.max_upload_bytes),
            "Tus-Checksum-Algorithm": ",".join(protocol.ALGORITHMS),
        },
    )


@router.get("", summary="List open uploads", responses=etag_responses())
def list_uploads(services: UseServices, caller: UseCaller) -> UploadList:
    """List the caller's uploads that have neither been used nor expired, newest first."""
    with services.store.read() as tx:
        uploads = tx.uploads.open_uploads_of(caller.key_id)
    return UploadList(items=[Upload.model_validate(upload) for upload in uploads])


@router.post(
    "",
    summary="Create a resumable upload",
    status_code=HTTPStatus.CREATED,
    response_model=Upload,
    responses=problems(400, 408, 409, 412, 413, 415, 422, 423, 460, 507),
    openapi_extra={
        "parameters": protocol.request_headers(
            "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Checksum"
        )
    },
    dependencies=_REQUIRE_TUS_VERSION,
)
async def create_upload(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Create an upload; send its bytes by PATCH to the URL in `Location`.

    This request may have the first bytes, as `application/offset+octet-stream`. Use a complete upload in any
    form with a file: send the text `upload:` and its id as the form's `file`.
    """
    limit, key_id = services.settings.max_upload_bytes, caller.key_id
    size_bytes = protocol.size_to_create(request.headers, limit)
    metadata = protocol.Metadata.of(request.headers)
    checksum = protocol.Checksum.of(request.headers)
    if has_body(request.headers):
        protocol.require_content_type(request.headers)
        _refuse_declared(request, 0, limit if size_bytes is None else size_bytes)
    upload, created = await run_in_threadpool(_create, services, key_id, idempotency, size_bytes, metadata)
    if has_body(request.headers):
        pieces = await run_in_threadpool(_begin, services, key_id, upload.id, 0, size_bytes, checksum)
        await receive_piece(request.stream(), pieces, limit if size_bytes is None else size_bytes)
        upload = await run_in_threadpool(_stored, services, key_id, upload.id)
        created.body = JSONResponse(Upload.model_validate(upload).model_dump(mode="json")).body
        progress = _progress(upload.received_bytes, upload.expires_at)
        created.headers.update(progress | {"Content-Length": str(len(created.body))})
    return created


@router.head(
    "/{upload_id}",
    summary="Show the progress of an upload",
    response_class=Response,
    responses={
        200: {"description": "Offset of the next byte", "headers": dict(protocol.PROGRESS_HEADERS)},
        **problems(404, 410, 412),
    },
    openapi_extra={"parameters": protocol.request_headers()},
    dependencies=_REQUIRE_TUS_VERSION,
)
def show_upload(upload_id: str, services: UseServices, caller: UseCaller) -> Response:
    """Return the offset of the next byte."""
    with services.store.read() as tx:
        upload = _unused(tx.uploads.get(upload_id, caller.key_id))
    headers = _progress(upload.received_bytes, upload.expires_at) | {"Cache-Control": "no-store"}
    headers |= (
        {"Upload-Defer-Length": "1"}
        if upload.size_bytes is None
        else {"Upload-Length": str(upload.size_bytes)}
    )
    if upload.metadata_header:
        headers["Upload-Metadata"] = upload.metadata_header
    return Response(headers=headers)


@router.patch(
    "/{upload_id}",
    summary="Send a piece of a file",
    status_code=HTTPStatus.NO_CONTENT,
    response_class=Response,
    responses={
        204: {"description": "Stored", "headers": dict(protocol.PROGRESS_HEADERS)},
        **problems(400, 404, 408, 409, 410, 412, 413, 415, 422, 423, 460, 507),
    },
    openapi_extra={
        "requestBody": dict(protocol.PIECE_BODY),
        "parameters": protocol.request_headers(
            "Upload-Length", "Upload-Checksum", required=("Tus-Resumable", "Upload-Offset")
        ),
    },
    dependencies=_REQUIRE_TUS_VERSION,
)
async def append_to_upload(
    upload_id: str, request: Request, services: UseServices, caller: UseCaller
) -> Response:
    """Append the body to an upload; the received bytes of a truncated body without checksum are kept.

    Of concurrent requests to one upload the latest continues; the others get status 423.
    """
    headers, key_id = request.headers, caller.key_id
    protocol.require_content_type(headers)
    offset, checksum = protocol.upload_offset(headers), protocol.Checksum.of(headers)
    size_bytes = protocol.upload_length(headers, services.settings.max_upload_bytes)
    end = await run_in_threadpool(_declared_end, services, key_id, upload_id, size_bytes)
    _refuse_declared(request, offset, end)
    pieces = await run_in_threadpool(_begin, services, key_id, upload_id, offset, size_bytes, checksum)
    position = await receive_piece(request.stream(), pieces, end)
    upload = await run_in_threadpool(_stored, services, key_id, upload_id)
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=_progress(position, upload.expires_at))


@router.delete(
    "/{upload_id}",
    summary="Delete an upload",
    status_code=HTTPStatus.NO_CONTENT,
    response_class=Response,
    responses=problems(404, 412),
    openapi_extra={"parameters": protocol.request_headers()},
    dependencies=_REQUIRE_TUS_VERSION,
)
def delete_upload(upload_id: str, services: UseServices, caller: UseCaller) -> Response:
    """Delete an upload and its bytes; objects made from it stay."""
    with services.store.begin() as tx:
        tx.uploads.delete(upload_id, caller.key_id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _create(
    services: Services,
    key_id: str | None,
    idempotency: IdempotencyKey,
    size_bytes: int | None,
    metadata: protocol.Metadata,
) -> tuple[UploadRow, Response]:
    """Record an upload, and return it with the response."""
    store, settings = services.store, services.settings
    request = idempotency.of(hashlib.sha256(json.dumps([size_bytes, metadata.header]).encode()).hexdigest())
    require_room(store.artifacts, settings.min_free_bytes, size_bytes or 0)
    with request.begin(store) as tx:
        tx.quotas.allow_upload(key_id, settings.max_open_uploads)
        tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, size_bytes or 0)
        upload = tx.uploads.add(
            size_bytes,
            utc_now() + timedelta(hours=settings.upload_hours),
            filename=metadata.filename,
            metadata_header=metadata.header,
            key_id=key_id,
        )
        content = Upload.model_validate(upload).model_dump(mode="json")
        location = {"Location": f"/v1/uploads/{upload.id}"}
        created = request.keep(tx, JSONResponse(content, HTTPStatus.CREATED, headers=location))
    created.headers["Upload-Expires"] = _http_date(upload.expires_at)
    return upload, created


def _declared_end(services: Services, key_id: str | None, upload_id: str, size_bytes: int | None) -> int:
    """Return the declared size of an upload, or the size limit while the size is deferred."""
    with services.store.read() as tx:
        upload = _unused(tx.uploads.get(upload_id, key_id))
    if size_bytes is not None and upload.size_bytes not in (None, size_bytes):
        detail = f"Upload-Length: was {upload.size_bytes} before and cannot change"
        raise HTTPException(HTTPStatus.BAD_REQUEST, detail)
    if size_bytes is not None and size_bytes < upload.received_bytes:
        detail = f"Upload-Length: must be at least {upload.received_bytes}, the number of received bytes"
        raise HTTPException(HTTPStatus.BAD_REQUEST, detail)
    declared = upload.size_bytes if size_bytes is None else size_bytes
    return services.settings.max_upload_bytes if declared is None else declared


def _begin(
    services: Services,
    key_id: str | None,
    upload_id: str,
    offset: int,
    size_bytes: int | None,
    checksum: protocol.Checksum | None,
) -> PieceWriter:
    """Acquire an upload for this request, and return the writer of its body."""
    writer = new_id(_WRITER)
    with services.store.begin() as tx:
        upload = _unused(tx.uploads.get(upload_id, key_id))
        if not tx.uploads.begin_writing(upload_id, offset, writer):
            detail = (
                f"Upload-Offset: must be {upload.received_bytes}, the offset of the next byte, not {offset}"
            )
            raise HTTPException(HTTPStatus.CONFLICT, detail)
        if upload.size_bytes is None:
            if size_bytes is not None:
                tx.uploads.set_size(upload, size_bytes)
            tx.quotas.allow_bytes(key_id, services.settings.max_stored_bytes, 0)
    return PieceWriter(services, upload, writer, offset, checksum)


def _stored(services: Services, key_id: str | None, upload_id: str) -> UploadRow:
    with services.store.read() as tx:
        return tx.uploads.get(upload_id, key_id)


def _unused(upload: UploadRow) -> UploadRow:
    if upload.used_at is not None:
        raise HTTPException(HTTPStatus.GONE, f"upload {upload.id} was used; upload the file again")
    return upload


def _refuse_declared(request: Request, offset: int, end: int) -> None:
    """Refuse a body that is too large by its declared length."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and offset + int(declared) > end:
        raise too_large(end)


def _progress(position: int, expires_at: datetime) -> dict[str, str]:
    return {"Upload-Offset": str(position), "Upload-Expires": _http_date(expires_at)}


def _http_date(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)
