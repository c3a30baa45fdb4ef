"""Routes to upload, generate, show and delete datasets."""

from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles
from app.datasets.schemas import (
    Dataset,
    DatasetPage,
    FeatureProfiles,
    JudgedQuery,
    QueryPage,
    SyntheticDatasetRequest,
)
from app.datasets.uploads import FILE, FILES, PARTS, TEXTS, DatasetUpload, Places
from app.http.caller import UseCaller
from app.http.expensive_reads import Download
from app.http.idempotency import BodySha256, IdempotencyKey, UseIdempotencyKey
from app.http.openapi import BODY_PROBLEMS, NOT_MODIFIED, UPLOAD_PROBLEMS, problems
from app.http.path_parameters import any_text
from app.http.responses import ACCEPTED, accepted
from app.http.route import QUERY_ID, JsonRoute, Router
from app.http.schemas import Cursor, DatasetName, Limit
from app.http.uploads import receive_upload, receiving, refuse_declared_size
from app.services import Services, UseServices
from core.data.options import FORMATS
from core.jobs.ingest import IngestJob
from core.store import Dataset as DatasetRow
from core.store import Job, Transaction
from core.store.artifacts.artifacts import Artifacts

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_FILE_PART = {"type": "string", "format": "binary", "minLength": 1}
_UPLOAD_PROPERTIES: dict[str, Any] = {
    "file": {
        **_FILE_PART,
        "description": "LETOR, LightGBM, CSV, TSV, Parquet or TREC qrels; plain, gzip or Zstandard",
    },
    **{
        part: {**_FILE_PART, "description": f"The {part} part, instead of `file`: a dataset of its own"}
        for part in PARTS
    },
    **{
        f"{part}_query": {**_FILE_PART, "description": f"LightGBM's query file beside `{part}`"}
        for part in (FILE, *PARTS)
    },
    "name": {
        "type": "string",
        "maxLength": 200,
        "description": "For people; the file's name when left out, and with several parts followed by theirs",
    },
    "format": {"type": "string", "enum": list(FORMATS), "description": "`auto` tells it by the content"},
    "non_contiguous_queries": {
        "type": "string",
        "enum": ["regroup", "error"],
        "description": "Whether a query whose rows do not stand together is gathered or refused",
    },
    "repeated_features": {
        "type": "string",
        "enum": ["last", "reject"],
        "description": "Whether a feature that comes twice in a LETOR row counts with its last value",
    },
    "columns": {
        "type": "string",
        "description": "JSON: the columns of a table, `label`, `query`, `document`, `query_weight` and"
        " `document_weight` by name; `query_columns`, `features`, `categorical_features` (texts or whole"
        " numbers) and `ignore` as lists. Told by the usual names when left out",
    },
    "feature_names": {
        "type": "string",
        "description": "JSON, as text or as a file: names by feature id, or a list of them",
    },
}
_UPLOAD_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": _UPLOAD_PROPERTIES, "additionalProperties": False},
            "examples": {
                "letor": {
                    "summary": "One LETOR file",
                    "value": {"file": "2 qid:1 1:0.5 2:3.0 # d1", "name": "web30k fold 1"},
                },
                "table": {
                    "summary": "A table with columns of other names",
                    "value": {
                        "file": "grade,search,bm25\\n2,shoes,12.5\\n",
                        "columns": '{"label": "grade", "query": "search"}',
                    },
                },
                "categories": {
                    "summary": "A table with a feature whose values are texts",
                    "value": {
                        "file": "label,query_id,bm25,brand\\n2,q1,12.5,acme\\n",
                        "columns": '{"categorical_features": ["brand"]}',
                    },
                },
            },
        }
    },
}
_QRELS_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A line a judgment",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "10032 0 GX029-35-5894638 2\n"}},
    }
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
    responses=problems(*UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": _UPLOAD_BODY},
)
async def upload_dataset(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Upload judged files; a job reads each of them.

    A dataset is `pending` until then, and `invalid` with up to 100 mistakes by line and column when it cannot
    be read. Of several parts the first one's dataset is returned; `parts` names them all.
    """
    limit, reserve = services.settings.max_upload_bytes, services.settings.min_free_bytes
    artifacts = services.store.artifacts
    refuse_declared_size(request.headers, limit, artifacts, reserve)
    places = Places()
    content_type = request.headers.get("content-type", "")
    receiver = receiving(artifacts, places.key_of, places.folders(), limit, reserve)
    async with contextmanager_in_threadpool(receiver) as reception:
        received = await receive_upload(request.stream(), content_type, reception, FILES, TEXTS, limit)
        upload = DatasetUpload.of(received)
    return await run_in_threadpool(_register, services, caller.key_id, idempotency, upload, places)


def _register(
    services: Services, key_id: str | None, idempotency: IdempotencyKey, upload: DatasetUpload, places: Places
) -> Response:
    kept, settings = False, services.settings
    try:
        with services.store.begin() as tx:
            if answer := idempotency.replay(tx, upload.sha256()):
                return answer
            tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, upload.size_bytes)
            tx.quotas.allow_jobs(key_id, settings.max_active_jobs, len(upload.parts))
            datasets = upload.add(tx, places, key_id)
            jobs = [_queue_ingestion(tx, dataset, key_id) for dataset in datasets]
            first = datasets[0]
            created = accepted(Dataset.model_validate(first), f"/v1/datasets/{first.id}")
            idempotency.keep(tx, upload.sha256(), created)
        kept = True
    finally:
        if not kept:
            _remove(services.store.artifacts, places.folders())
    for job in jobs:
        services.submitted(job)
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
    caller: UseCaller,
    idempotency: UseIdempotencyKey,
    body_sha256: BodySha256,
) -> Response:
    """Queue a job that draws queries whose labels follow a random cubic polynomial of 50 features.

    Datasets that share `polynomial_seed` and differ in `seed` are samples of one problem: train on one,
    test on another.
    """
    source = {"kind": "synthetic", **body.model_dump(exclude={"name"})}
    with services.store.begin() as tx:
        if answer := idempotency.replay(tx, body_sha256):
            return answer
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        name = body.name or f"synthetic, {body.queries} queries, seed {body.seed}"
        dataset = tx.datasets.add(name, source, key_id=caller.key_id)
        job = _queue_ingestion(tx, dataset, caller.key_id)
        created = accepted(Dataset.model_validate(dataset), f"/v1/datasets/{dataset.id}")
        idempotency.keep(tx, body_sha256, created)
    services.submitted(job)
    return created


@router.get("", summary="List datasets", responses={**NOT_MODIFIED, **problems(422)})
def list_datasets(
    services: UseServices,
    status: Annotated[Literal["pending", "ready", "invalid"] | None, Query(description="Only these")] = None,
    name: Annotated[DatasetName | None, Query(description="Only datasets of this name")] = None,
    sha256: Annotated[
        str | None,
        Query(pattern="^[0-9a-f]{64}$", description="Only those whose bytes, as sent, hash to this"),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DatasetPage:
    """List datasets, newest first."""
    with services.store.read() as tx:
        page = tx.datasets.page(cursor, limit, status=status, name=name, sha256=sha256)
    return DatasetPage.model_validate(page)


@router.get("/{dataset_id}", summary="Show a dataset", responses={**NOT_MODIFIED, **problems(404)})
def get_dataset(dataset_id: str, services: UseServices) -> Dataset:
    """Show a dataset with its statistics, or with its problem."""
    with services.store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    return Dataset.model_validate(dataset)


@router.get(
    "/{dataset_id}/features", summary="Show the features", responses={**NOT_MODIFIED, **problems(404, 409)}
)
def get_features(dataset_id: str, services: UseServices) -> FeatureProfiles:
    """Show each feature's range, missing values, and how well it ranks alone."""
    return DatasetFiles(services.store, dataset_id).features()


@router.get(
    "/{dataset_id}/queries", summary="List the queries", responses={**NOT_MODIFIED, **problems(404, 409, 422)}
)
def list_queries(
    dataset_id: str,
    services: UseServices,
    prefix: Annotated[str | None, Query(max_length=200, description="Only ids that start so")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> QueryPage:
    """List the queries in the dataset's order, with how many documents they have and which labels."""
    return DatasetFiles(services.store, dataset_id).queries(prefix, cursor, limit)


@router.get(
    "/{dataset_id}/queries/" + any_text(QUERY_ID),
    summary="Show a query's documents",
    responses={**NOT_MODIFIED, **problems(404, 409, 422)},
)
def get_query(
    dataset_id: str,
    query_id: str,
    services: UseServices,
    offset: Annotated[int, Query(ge=0, le=2**40, description="Documents to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Documents to show")] = 100,
) -> JudgedQuery:
    """Show documents of one query with their labels and features, as they were read.

    The id may hold slashes and any other character, percent-encoded.
    """
    return DatasetFiles(services.store, dataset_id).query(query_id, offset, limit)


@router.get(
    "/{dataset_id}/qrels",
    summary="Download the judgments",
    response_class=Response,
    responses={**_QRELS_RESPONSE, **problems(404, 409)},
)
def download_qrels(dataset_id: str, services: UseServices) -> Response:
    """Download the judgments as TREC qrels, `qid 0 docno relevance`, for any tool that reads them.

    Documents without a label are left out.
    """
    lines = DatasetFiles(services.store, dataset_id).qrels()
    return Download(lines, None, "text/plain; charset=utf-8", f"{dataset_id}.qrels")


@router.delete("/{dataset_id}", summary="Delete a dataset", status_code=204, responses=problems(404, 409))
def delete_dataset(dataset_id: str, services: UseServices) -> None:
    """Delete a dataset and its files; models and results made from it stay."""
    with services.store.begin() as tx:
        folders = tx.datasets.delete(dataset_id)
    _remove(services.store.artifacts, folders)


def _remove(artifacts: Artifacts, folders: list[str]) -> None:
    for folder in folders:
        artifacts.delete(folder)


def _queue_ingestion(tx: Transaction, dataset: DatasetRow, key_id: str | None) -> Job:
    job = tx.enqueue(IngestJob(dataset_id=dataset.id, name=dataset.name), key_id)
    tx.datasets.attach_job(dataset.id, job.id)
    return job
