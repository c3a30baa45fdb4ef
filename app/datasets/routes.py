"""Routes to upload, generate, show and delete datasets."""

from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles
from app.datasets.corpus import corpus_of
from app.datasets.fits import DatasetFits
from app.datasets.folders import asked_datasets
from app.datasets.ingestion import queue_ingestion
from app.datasets.registration import register_upload
from app.datasets.schemas import (
    Corpus,
    DataFolder,
    Dataset,
    DatasetChanges,
    DatasetColumn,
    DatasetPage,
    DatasetSelection,
    DeletedDataset,
    DeletedDatasets,
    FeatureProfiles,
    FolderDatasetRequest,
    FolderPart,
    JudgedQuery,
    QueryPage,
    ReadAgainRequest,
    SelectedDatasets,
    SyntheticDatasetRequest,
)
from app.datasets.sources import IMPORT_BODY
from app.datasets.uploads import FILE, FILES, PARTS, TEXTS, DatasetUpload, Places, options_ignoring
from app.http.caller import UseCaller
from app.http.expensive_reads import Download
from app.http.idempotency import UseIdempotency, UseIdempotencyKey
from app.http.labels import PROJECT_PART, WantedProject
from app.http.lists import Direction, Fields, Prefix, check_fields, selected
from app.http.openapi import BODY_PROBLEMS, NOT_MODIFIED, UPLOAD_PROBLEMS, problems
from app.http.path_parameters import any_text
from app.http.responses import ACCEPTED, accepted
from app.http.route import QUERY_ID, JsonRoute, Router
from app.http.schemas import Cursor, DatasetName, Limit, ModelReference
from app.http.uploads import receive_upload, receiving, refuse_declared_size
from app.services import UseServices
from app.uploads.finished import StoredUploads
from core.data.folders import MAX_FOLDER_LENGTH, DataRoots
from core.data.options import FORMATS
from core.errors import InvalidInput, NotFound, WrongState
from core.store.artifacts.keys import upload_key

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
    "project": PROJECT_PART,
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
        "description": "JSON: the columns of a table by name: `label`, `query`, `document`, `query_weight`,"
        " `document_weight`, `query_text`, `document_title` and `document_url`; as lists `query_columns`,"
        " `document_columns`,"
        " `features`, `categorical_features` (texts or whole numbers) and `ignore`. Told by the usual names"
        " when left out",
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
                "texts": {
                    "summary": "A table with the texts of queries and the titles of documents",
                    "value": {
                        "file": "label,query_id,search,document_id,title,link,bm25\\n"
                        "2,q1,red shoes,d1,Shoe A,https://shop.example/a,12.5\\n",
                        "columns": '{"query_text": "search", "document_url": "link"}',
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
        },
        "application/json": IMPORT_BODY,
    },
}
_QRELS_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A line a judgment",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "10032 0 GX029-35-5894638 2\n"}},
    }
}
_READ_AGAIN_EXAMPLES: Any = {"column": {"summary": "Without a column", "value": {"ignore": ["price"]}}}
_CHANGE_EXAMPLES: Any = {
    "rename": {"summary": "Rename it", "value": {"name": "web30k fold 1"}},
    "move": {"summary": "Move it to a project", "value": {"project": "web"}},
}
_SELECTION_EXAMPLES: Any = {
    "two": {
        "summary": "Two datasets",
        "value": {"ids": ["ds_01k9x2m4q7c8v5n3b6r1", "ds_01k9x2m4q7c8v5n3b6r2"]},
    }
}
_SYNTHETIC_EXAMPLES: Any = {
    "train": {"summary": "A thousand queries", "value": {"name": "toy train", "queries": 1000, "seed": 1}},
    "test": {
        "summary": "Fresh queries of the same hidden function",
        "value": {"name": "toy test", "queries": 200, "seed": 2, "polynomial_seed": 0},
    },
    "noisy": {
        "summary": "Other lists, with noise and the gains of 2006 as labels",
        "value": {
            "queries": 100,
            "documents_per_query": 20,
            "features": 30,
            "noise": 0.5,
            "gains": [0, 3, 7, 15, 31],
        },
    },
    "sparse": {
        "summary": "Long lists with few relevant documents",
        "value": {
            "name": "sparse train",
            "generator": "sparse",
            "queries": 100,
            "documents_per_query": 1000,
            "relevant_per_query": 20,
        },
    },
}
_FOLDER_EXAMPLES: Any = {
    "fold": {"summary": "All parts of a fold", "value": {"folder": "MSLR-WEB30K/Fold1"}},
    "part": {
        "summary": "One part of Yahoo's first set",
        "value": {"folder": "Yahoo/set1", "part": "train", "name": "yahoo 1"},
    },
    "files": {
        "summary": "Several files as one dataset",
        "value": {
            "folder": "clicks/2026-05",
            "files": "part-*.parquet",
            "columns": {"label": "clicked", "query": "search"},
        },
    },
    "bucket": {
        "summary": "Objects of a bucket as one dataset",
        "value": {"folder": "s3://clicks/2026-05", "files": "part-*.parquet", "name": "clicks of May"},
    },
}


@router.post(
    "",
    summary="Upload or import a dataset",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=problems(415, *UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": _UPLOAD_BODY},
)
async def upload_dataset(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Upload judged files; a job reads each of them.

    A dataset is `pending` until then, and `invalid` with up to 100 mistakes by line and column when it cannot
    be read. Of several parts the first one's dataset is returned; `parts` names them all. Instead of a file,
    a part may be the text `upload:upl_…`: a finished resumable upload (`POST /v1/uploads`), used up by it.

    A JSON body names addresses below `RANKERY_SOURCES` instead, which a worker downloads and reads, or
    finished resumable uploads, as `upload:upl_…`.
    """
    limit, reserve = services.settings.max_upload_bytes, services.settings.min_free_bytes
    artifacts = services.store.artifacts
    refuse_declared_size(request.headers, limit, artifacts, reserve)
    places = Places()
    content_type = request.headers.get("content-type", "")
    finished = StoredUploads(services.store, caller.key_id)
    receiver = receiving(artifacts, places.key_of, places.folders(), limit, reserve, finished)
    async with contextmanager_in_threadpool(receiver) as reception:
        received = await receive_upload(request.stream(), content_type, reception, FILES, TEXTS, limit)
        upload = DatasetUpload.of(received)
    repeatable = idempotency.of(upload.sha256())
    return await run_in_threadpool(register_upload, services, caller.key_id, repeatable, upload, places)


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
    idempotency: UseIdempotency,
) -> Response:
    """Queue a job that draws queries whose labels follow a random cubic polynomial.

    Datasets that differ in `seed` and `queries` only are samples of one problem: train on one, test on
    another.
    """
    source = body.source()
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        kind = "sparse" if body.generator == "sparse" else "synthetic"
        name = body.name or f"{kind}, {body.queries} queries, seed {body.seed}"
        dataset = tx.datasets.add(name, source, key_id=caller.key_id, project=body.project)
        job = queue_ingestion(tx, dataset, caller.key_id)
        created = idempotency.keep(
            tx, accepted(Dataset.model_validate(dataset), f"/v1/datasets/{dataset.id}")
        )
    services.submitted(job)
    return created


@router.get("/folders", summary="Show a folder", responses={**NOT_MODIFIED, **problems(422)})
def get_folder(
    services: UseServices,
    folder: Annotated[
        str, Query(max_length=MAX_FOLDER_LENGTH, description="Its path below a root; `.` is the root")
    ] = ".",
) -> DataFolder:
    """Show which training, validation and test files a folder below `RANKERY_DATA_ROOTS` has.

    They are recognised by their names: those of MSLR-WEB10K and 30K, Yahoo, Istella and LETOR 3.0 and 4.0.
    """
    found = DataRoots(services.settings.data_roots).look(folder)
    parts = {part: FolderPart(file=name, size_bytes=found.sizes[part]) for part, name in found.parts.items()}
    return DataFolder(folder=found.folder, parts=parts, folders=list(found.folders))


@router.post(
    "/folders",
    summary="Read a folder",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=problems(409, *BODY_PROBLEMS),
)
def create_folder_datasets(
    body: Annotated[FolderDatasetRequest, Body(openapi_examples=_FOLDER_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Make datasets of the training, validation and test files in a folder, which a worker reads in place.

    The folder is below `RANKERY_DATA_ROOTS` on the disks of the API and of the workers, or in a bucket named
    there. The first part's dataset is returned; `parts` names them all. With `files`, all files that match
    are read, on several machines where a Dask cluster is set up, and become one dataset.
    """
    settings = services.settings
    with services.store.read() as tx:
        idempotency.replay(tx)
    asked = asked_datasets(settings, body)  # a bucket takes its time, for which no transaction waits
    with idempotency.begin(services.store) as tx:
        asked.allow(tx, settings, caller.key_id)
        datasets = asked.add(tx, caller.key_id)
        jobs = [queue_ingestion(tx, dataset, caller.key_id) for dataset in datasets]
        first = datasets[0]
        created = idempotency.keep(tx, accepted(Dataset.model_validate(first), f"/v1/datasets/{first.id}"))
    services.submitted(*jobs)
    return created


@router.get("", summary="List datasets", responses={**NOT_MODIFIED, **problems(404, 422)})
def list_datasets(
    services: UseServices,
    status: Annotated[Literal["pending", "ready", "invalid"] | None, Query(description="Only these")] = None,
    name: Annotated[DatasetName | None, Query(description="Only datasets of this name")] = None,
    sha256: Annotated[
        str | None,
        Query(pattern="^[0-9a-f]{64}$", description="Only those whose bytes, as sent, hash to this"),
    ] = None,
    project: WantedProject = None,
    prefix: Prefix = None,
    sort: Annotated[DatasetColumn, Query(description="What to sort by")] = "created",
    order: Direction = None,
    fields: Fields = None,
    measured: Annotated[
        list[ModelReference],
        Query(
            alias="for",
            max_length=20,
            description="References of models and ids of rankings: say of each dataset whether they can be"
            " measured on it",
        ),
    ] = [],  # noqa: B006 - FastAPI copies it
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DatasetPage | SelectedDatasets:
    """List datasets, newest first by default.

    A form that measures systems asks with `for`, offers what fits, and proposes `default_id`.
    """
    check_fields(Dataset, fields)
    with services.store.read() as tx:
        page = tx.datasets.page(
            cursor,
            limit,
            status=status,
            name=name,
            sha256=sha256,
            project=project,
            prefix=prefix,
            sort=sort,
            direction=order,
        )
        shown = DatasetPage.model_validate(page)
        if measured:
            fits = DatasetFits(services, tx, measured)
            names = tx.datasets.feature_names_of([dataset.id for dataset in page.items])
            for item, dataset in zip(shown.items, page.items, strict=True):
                item.fit = fits.of(dataset, names[dataset.id])
            shown.default_id = fits.default_id(tx)
    if fields is None:
        return shown
    chosen = selected(shown.items, page.next_cursor, fields)
    return SelectedDatasets(**dict(chosen), default_id=shown.default_id)


@router.post("/delete", summary="Delete several datasets", responses=problems(*BODY_PROBLEMS))
def delete_datasets(
    body: Annotated[DatasetSelection, Body(openapi_examples=_SELECTION_EXAMPLES)], services: UseServices
) -> DeletedDatasets:
    """Delete several datasets and their files, and say of each what became of it.

    One that is in use stays, with the reason; the request may be sent again.
    """
    items = []
    for dataset_id in dict.fromkeys(body.ids):
        try:
            delete_dataset(dataset_id, services)
            items.append(DeletedDataset(id=dataset_id, outcome="deleted"))
        except NotFound:
            items.append(DeletedDataset(id=dataset_id, outcome="missing"))
        except WrongState as used:
            items.append(DeletedDataset(id=dataset_id, outcome="in_use", detail=used.detail))
    return DeletedDatasets(items=items)


@router.get("/{dataset_id}", summary="Show a dataset", responses={**NOT_MODIFIED, **problems(404)})
def get_dataset(dataset_id: str, services: UseServices) -> Dataset:
    """Show a dataset with its statistics, or with its problem."""
    with services.store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    return Dataset.model_validate(dataset)


@router.patch("/{dataset_id}", summary="Label a dataset", responses=problems(404, *BODY_PROBLEMS))
def change_dataset(
    dataset_id: str,
    body: Annotated[DatasetChanges, Body(openapi_examples=_CHANGE_EXAMPLES)],
    services: UseServices,
) -> Dataset:
    """Change a dataset's name and project; the job that read it moves with it."""
    if "name" in body.model_fields_set and body.name is None:
        raise InvalidInput.at("/name", "must not be null")
    with services.store.begin() as tx:
        dataset = tx.datasets.get(dataset_id)
        dataset.name = body.name or dataset.name
        if "project" in body.model_fields_set:
            tx.projects.move_dataset(dataset, body.project)
    return Dataset.model_validate(dataset)


@router.get(
    "/{dataset_id}/features", summary="Show the features", responses={**NOT_MODIFIED, **problems(404, 409)}
)
def get_features(dataset_id: str, services: UseServices) -> FeatureProfiles:
    """Show each feature's range, missing values, and how well it ranks alone."""
    return DatasetFiles(services.store, dataset_id).features()


@router.get(
    "/{dataset_id}/corpus",
    summary="Recognise a public corpus",
    responses={**NOT_MODIFIED, **problems(404, 409)},
)
def get_corpus(dataset_id: str, services: UseServices) -> Corpus:
    """Compare the counts of a dataset with those that papers print for public corpora.

    The other parts of its upload or folder are looked at together with it, once all of them are ready.
    """
    with services.store.read() as tx:
        return corpus_of(tx, dataset_id)


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


@router.post(
    "/{dataset_id}/read-again",
    summary="Read an invalid upload again",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=problems(404, 409, *BODY_PROBLEMS),
)
def read_again(
    dataset_id: str,
    body: Annotated[ReadAgainRequest, Body(openapi_examples=_READ_AGAIN_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Read the bytes that were uploaded once more, without some columns.

    The bytes of a table are kept where one of its `causes` says `can_ignore`, until it is read or deleted.
    """
    settings = services.settings
    with idempotency.begin(services.store) as tx:
        dataset = tx.datasets.get(dataset_id)
        options = options_ignoring(dataset, body.ignore)
        dataset = tx.datasets.read_again(dataset_id, options)
        in_place = dataset.source["kind"] in ("folder", "address")
        if not in_place and not services.store.artifacts.exists(upload_key(dataset_id)):
            raise WrongState("dataset", dataset_id, "invalid", "its bytes are gone; upload the file again")
        tx.quotas.allow_jobs(caller.key_id, settings.max_active_jobs)
        job = queue_ingestion(tx, dataset, caller.key_id)
        created = idempotency.keep(
            tx, accepted(Dataset.model_validate(dataset), f"/v1/datasets/{dataset_id}")
        )
    services.submitted(job)
    return created


@router.delete("/{dataset_id}", summary="Delete a dataset", status_code=204, responses=problems(404, 409))
def delete_dataset(dataset_id: str, services: UseServices) -> None:
    """Delete a dataset and its files; models and results made from it stay."""
    with services.store.begin() as tx:
        folders = tx.datasets.delete(dataset_id)
    services.store.artifacts.delete_all(folders)
