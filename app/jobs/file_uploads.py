"""Receive an uploaded file and queue its job in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import contextmanager_in_threadpool
from starlette.responses import Response

from app.http.caller import caller_in
from app.http.idempotency import IdempotentRequest
from app.http.responses import accepted
from app.http.services import Services
from app.http.uploads import ReceivedFile, ReceivedUpload, receive_upload, receiving, refuse_declared_size
from app.jobs.schemas import Job
from app.uploads.finished import StoredUploads
from core.errors import InputProblem
from core.store import Job as JobRow
from core.store import Transaction

_FILE = "file"
T = TypeVar("T")


def file_body(
    description: str,
    fields: Mapping[str, dict[str, Any]],
    required: Sequence[str],
    examples: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """Describe the multipart body of an uploaded file, for the OpenAPI document.

    Args:
        description: Of the file.
        fields: The schemas of what may come with it.
        required: Those of them that must.
        examples: Bodies by name, each with its summary.
    """
    file = {
        "type": "string",
        "format": "binary",
        "minLength": 1,
        "description": f"{description}. Or the text `upload:upl_…`, a finished resumable upload",
    }
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": [_FILE, *required],
        "properties": {_FILE: file, **fields},
    }
    return {"required": True, "content": {"multipart/form-data": {"schema": schema, "examples": examples}}}


async def receive_file(
    request: Request,
    services: Services,
    key: str,
    folder: str,
    texts: Mapping[str, int],
    max_bytes: int,
    check: Callable[[ReceivedUpload], T],
) -> T:
    """Stream the file of a multipart body into the artifact store.

    Args:
        request: The request.
        services: Where it goes.
        key: Under which it is kept.
        folder: Of the key; nothing is left in it of an upload that was interrupted or is refused.
        texts: Names of the text fields that may come with it, and their largest sizes in bytes.
        max_bytes: The largest size of the file.
        check: Makes what it is of what has arrived, or refuses it.

    Raises:
        InvalidInput: When the body is not multipart, is cut short, or holds a part that is unknown, empty or
            unfit.
        HTTPException: 413 when the file is larger than `max_bytes`.
        StoreFull: There is no room for it.
    """
    artifacts, reserve = services.store.artifacts, services.settings.min_free_bytes
    refuse_declared_size(request.headers, max_bytes, artifacts, reserve)
    content_type = request.headers.get("content-type", "")
    finished = StoredUploads(services.store, caller_in(request.scope).key_id)
    receiver = receiving(artifacts, lambda _: key, [folder], max_bytes, reserve, finished)
    async with contextmanager_in_threadpool(receiver) as reception:
        received = await receive_upload(request.stream(), content_type, reception, (_FILE,), texts, max_bytes)
        return check(received)


def missing_file(files: Mapping[str, ReceivedFile], noun: str) -> list[InputProblem]:
    """Return the problem of an upload without a file, or None."""
    if _FILE in files:
        return []
    return [InputProblem(f"/{_FILE}", f"required: the {noun}, as a part with this name and a filename")]


def queue_reading(
    services: Services,
    key_id: str | None,
    idempotency: IdempotentRequest,
    file: ReceivedFile,
    folder: str,
    queue: Callable[[Transaction], JobRow],
) -> Response:
    """Queue the job that reads a file, for the API key of the upload.

    Args:
        services: Where the file is.
        key_id: The key, None where none is needed.
        idempotency: Of all that was sent.
        file: The file.
        folder: Of the file, which goes where the job is not queued.
        queue: Checks what is asked for and queues the job.

    Raises:
        JobQuotaExceeded: The key has too many jobs.
    """
    kept = False
    try:
        with idempotency.begin(services.store) as tx:
            tx.quotas.allow_jobs(key_id, services.settings.max_active_jobs)
            file.use(tx, key_id)
            job = queue(tx)
            created = idempotency.keep(tx, accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"))
        kept = True
    finally:
        if not kept:
            services.store.artifacts.delete(folder)
    services.submitted(job)
    return created
