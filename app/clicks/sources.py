"""Create click logs from URLs, which workers read, and from finished resumable uploads."""

import json
from typing import Annotated

from fastapi import Body
from starlette.responses import Response

from app.clicks import uploads
from app.clicks.schemas import AddressLogRequest, ClickLog
from app.datasets.schemas import MAX_BASE_NAME_LENGTH, checked_name
from app.http.caller import UseCaller
from app.http.idempotency import IdempotentRequest, UseIdempotency
from app.http.openapi import body_problems
from app.http.route import ACCEPTED, Router
from app.http.services import Services, UseServices
from app.uploads.form import FILE, FormReceiver, ReceivedForm
from app.uploads.multipart import UPLOAD_REFERENCE
from app.uploads.source_urls import JsonBodyRoute, requested_urls
from core.errors import InvalidInput
from core.store import new_id
from core.store.sources.source_urls import AllowedUrls

# Registered before the router of uploads, which has the same path and describes both in the OpenAPI document.
router = Router(prefix="/v1/click-logs", tags=["clicks"], route_class=JsonBodyRoute)


@router.post(
    "",
    summary="Import a click log",
    status_code=ACCEPTED,
    response_model=ClickLog,
    responses=body_problems(409, 507),
)
def import_click_log(
    body: Annotated[AddressLogRequest, Body(openapi_examples=uploads.URL_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create a click log from files at URLs, or from a resumable upload, which a worker reads."""
    if body.is_upload:
        return _create_from_upload(services, caller.key_id, idempotency, body)
    settings, options = services.settings, body.options()
    allowed = AllowedUrls(settings.sources)
    with_pattern = body.files is not None
    urls = requested_urls(body.source, "/source", allowed, with_pattern=with_pattern)
    first = f"{urls[0]}/{body.files}" if body.files else urls[0]
    source = {
        "kind": "address",
        "addresses": urls,
        **body.model_dump(include={"files", "credentials"}, exclude_none=True),
        "format": body.format,
        "options": options,
    }
    with idempotency.begin(services.store) as tx:
        remaining_bytes = tx.quotas.remaining_bytes(caller.key_id, settings.max_stored_bytes)
        tx.quotas.allow_jobs(caller.key_id, settings.max_active_jobs)
        log = tx.click_logs.add(
            body.name or checked_name(first[-MAX_BASE_NAME_LENGTH:]),
            source,
            key_id=caller.key_id,
            project=body.project,
        )
        job = uploads.queue_reading(tx, log, caller.key_id, remaining_bytes)
        created = idempotency.keep(tx, uploads.accepted_log(log))
    services.wake_workers(job)
    return created


def _create_from_upload(
    services: Services, key_id: str | None, idempotency: IdempotentRequest, body: AddressLogRequest
) -> Response:
    """Create a click log from a resumable upload, as for a form that refers to the upload."""
    reference = UPLOAD_REFERENCE.fullmatch(str(body.source))
    if reference is None:
        raise InvalidInput.at("/source", "must be upload:upl_…, the id of a resumable upload")
    for name in ("files", "credentials"):
        if getattr(body, name) is not None:
            raise InvalidInput.at(f"/{name}", "can only be used with URLs, not with uploads")
    log_id = new_id("clk_")
    fields = body.model_dump(include={"name", "format", "project"}, exclude_none=True)
    fields |= {name: json.dumps(value) for name, value in body.options().items()}
    with FormReceiver(
        services, key_id, uploads.upload_keys(log_id), services.settings.max_upload_bytes
    ) as receiver:
        receiver.add_upload(FILE, reference[1], "/source")
        receiver.copy_uploads()
        requested = uploads.LogUpload.of(ReceivedForm(receiver.files(), fields))
    return uploads.register_log(services, key_id, idempotency, requested, log_id)
