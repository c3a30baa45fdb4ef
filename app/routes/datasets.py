"""Uploading, making, showing and deleting datasets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, BinaryIO, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from starlette.responses import Response

from app.answers import ACCEPTED, accepted
from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.idempotency import BodySha256, Once, UseOnce
from app.routes.route import JsonRoute
from app.schemas.base import Cursor, Limit
from app.schemas.datasets import Dataset, DatasetPage, SyntheticDatasetRequest, dataset_name
from app.services import Services, UseServices
from app.uploads import ReceivedFile, receive_file, refuse_declared_size
from core.store import Dataset as DatasetRow
from core.store import Job, Transaction, new_id
from core.store.artifacts import Artifacts

router = APIRouter(prefix="/datasets", tags=["datasets"], route_class=JsonRoute)

_UPLOAD_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {
                        "type": "string",
                        "format": "binary",
                        "description": "A LETOR / SVMlight file, plain or gzip",
                    },
                    "name": {
                        "type": "string",
                        "maxLength": 200,
                        "description": "For people; the file's name when left out",
                    },
                },
            },
            "example": {"file": "2 qid:1 1:0.5 2:3.0 # d1", "name": "web30k fold 1"},
        }
    },
}
_SYNTHETIC_EXAMPLES: Any = {
    "train": {"summary": "A thousand queries", "value": {"name": "toy train", "queries": 1000, "seed": 1}},
    "test": {
        "summary": "Fresh queries of the same hidden function",
        "value": {"name": "toy test", "queries": 200, "seed": 2, "polynomial_seed": 0},
    },
}


@router.post(
    "",
    summary="Upload a dataset",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=problems(409, 413, 422),
    openapi_extra={"requestBody": _UPLOAD_BODY},
)
async def upload_dataset(request: Request, services: UseServices, once: UseOnce) -> Response:
    """Store the file as it arrives and queue a job that reads it.

    The dataset is `pending` until then, and `invalid` with line and column when it cannot be read.
    """
    limit = services.settings.max_upload_bytes
    refuse_declared_size(request.headers, limit)
    dataset_id = new_id("ds_")
    content_type = request.headers.get("content-type", "")
    async with contextmanager_in_threadpool(_uploading(services.store.artifacts, dataset_id)) as file:
        received = await receive_file(request.stream(), content_type, file, limit, ("name",))
        name = dataset_name(received.fields.get("name", received.filename))
    return await run_in_threadpool(_register_upload, services, once, dataset_id, name, received)


@contextmanager
def _uploading(artifacts: Artifacts, dataset_id: str) -> Iterator[BinaryIO]:
    """Write the uploaded bytes; an interrupted upload leaves not even an empty folder."""
    try:
        with artifacts.writing(upload_key(dataset_id)) as file:
            yield file
    except BaseException:
        artifacts.delete(f"datasets/{dataset_id}")
        raise


def _register_upload(
    services: Services, once: Once, dataset_id: str, name: str, received: ReceivedFile
) -> Response:
    kept = False
    try:
        with services.store.begin() as tx:
            if answer := once.earlier_answer(tx, received.sha256):
                return answer
            source = {"kind": "upload", "filename": received.filename, "format": "auto"}
            dataset = tx.datasets.add(
                name, source, dataset_id, size_bytes=received.size_bytes, sha256=received.sha256
            )
            job = _queue_ingestion(tx, dataset)
            created = accepted(Dataset.model_validate(dataset), f"/v1/datasets/{dataset.id}")
            once.keep(tx, received.sha256, created)
        kept = True
    finally:
        if not kept:
            services.store.artifacts.delete(f"datasets/{dataset_id}")
    services.wake_ups.send(job.id)
    return created


@router.post(
    "/synthetic",
    summary="Make a synthetic dataset",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=problems(409, *BODY_PROBLEMS),
)
def create_synthetic_dataset(
    body: Annotated[SyntheticDatasetRequest, Body(openapi_examples=_SYNTHETIC_EXAMPLES)],
    services: UseServices,
    once: UseOnce,
    body_sha256: BodySha256,
) -> Response:
    """Queue a job that draws queries whose labels follow a random cubic polynomial of 50 features.

    Datasets that share `polynomial_seed` and differ in `seed` are samples of one problem: train on one,
    test on another.
    """
    source = {"kind": "synthetic", **body.model_dump(exclude={"name"})}
    with services.store.begin() as tx:
        if answer := once.earlier_answer(tx, body_sha256):
            return answer
        dataset = tx.datasets.add(body.name or f"synthetic, {body.queries} queries, seed {body.seed}", source)
        job = _queue_ingestion(tx, dataset)
        created = accepted(Dataset.model_validate(dataset), f"/v1/datasets/{dataset.id}")
        once.keep(tx, body_sha256, created)
    services.wake_ups.send(job.id)
    return created


@router.get("", summary="List datasets", responses={**NOT_MODIFIED, **problems(422)})
def list_datasets(
    services: UseServices,
    status: Annotated[Literal["pending", "ready", "invalid"] | None, Query(description="Only these")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DatasetPage:
    """List datasets, newest first."""
    with services.store.read() as tx:
        page = tx.datasets.page(cursor, limit, status=status)
    return DatasetPage.model_validate(page)


@router.get("/{dataset_id}", summary="Show a dataset", responses={**NOT_MODIFIED, **problems(404)})
def get_dataset(dataset_id: str, services: UseServices) -> Dataset:
    """Show a dataset with its statistics, or with what is wrong with it."""
    with services.store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    return Dataset.model_validate(dataset)


@router.delete("/{dataset_id}", summary="Delete a dataset", status_code=204, responses=problems(404, 409))
def delete_dataset(dataset_id: str, services: UseServices) -> None:
    """Remove a dataset and its files; what was trained or measured on it stays."""
    with services.store.begin() as tx:
        tx.datasets.delete(dataset_id)
    services.store.artifacts.delete(f"datasets/{dataset_id}")


def upload_key(dataset_id: str) -> str:
    """Name the artifact that holds a dataset's bytes as they were sent."""
    return f"datasets/{dataset_id}/upload"


def _queue_ingestion(tx: Transaction, dataset: DatasetRow) -> Job:
    job = tx.jobs.add("ingest", {"dataset_id": dataset.id}, dataset_ids=[dataset.id])
    tx.datasets.attach_job(dataset.id, job.id)
    return job
