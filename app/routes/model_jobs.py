"""Models from elsewhere, and models made again: both by jobs."""

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.access.caller import UseCaller
from app.answers import ACCEPTED, accepted
from app.documentation import UPLOAD_PROBLEMS, problems
from app.file_uploads import receive_file
from app.idempotency import BodySha256, UseOnce
from app.model_uploads import (
    MAX_MODEL_BYTES,
    MODEL_BODY,
    MODEL_TEXTS,
    ModelUpload,
    register_model,
)
from app.routes.models import Reference
from app.routes.route import JsonRoute
from app.schemas.jobs import Job
from app.services import UseServices
from app.submission import enqueue
from app.submission.reproduction import reproduction
from core.jobs.folders import model_upload_folder
from core.store import new_id
from core.store.result_keys import model_upload_key

router = APIRouter(prefix="/models", tags=["models"], route_class=JsonRoute)


@router.post(
    "",
    summary="Import a model",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(*UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": MODEL_BODY},
)
async def import_model(request: Request, services: UseServices, caller: UseCaller, once: UseOnce) -> Response:
    """Take in a model that LightGBM trained elsewhere, as the next version of a name.

    A job reads the text, loads it into LightGBM in a process of its own and compares the scores of both on
    random documents; where anything is wrong it fails with the reason and nothing is kept.
    """
    upload_id = new_id("mup_")
    key, folder = model_upload_key(upload_id), model_upload_folder(upload_id)
    limit = min(services.settings.max_upload_bytes, MAX_MODEL_BYTES)
    upload = await receive_file(
        request,
        services,
        key,
        folder,
        MODEL_TEXTS,
        limit,
        lambda received: ModelUpload.of(received, upload_id),
    )
    return await run_in_threadpool(register_model, services, caller.key_id, once, upload)


@router.post(
    "/{ref}/reproduce",
    summary="Train a model again",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(404, 409, 422),
)
def reproduce_model(
    ref: Reference, services: UseServices, caller: UseCaller, once: UseOnce, body_sha256: BodySha256
) -> Response:
    """Train a model again from its lineage and see whether the same bytes come out; no model is made.

    The job's result is `{"model_id", "equal", "sha256", "expected_sha256", "stored_sha256", "differences"}`:
    `equal` where the new text, the checksum on record and the stored text are the same, and what differs from
    the lineage between then and now, `[{"what": "numpy", "then": "2.3.1", "now": "2.4.0"}]`; null where no
    lineage was kept.
    """
    with services.store.begin() as tx:
        if answer := once.earlier_answer(tx, body_sha256):
            return answer
        resolved = reproduction(tx, tx.models.resolve(ref))
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        job = enqueue(tx, resolved, caller.key_id)
        created = accepted(Job.of(tx, job), f"/v1/jobs/{job.id}")
        once.keep(tx, body_sha256, created)
    services.submitted(job)
    return created
