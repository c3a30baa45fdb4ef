"""Route to upload datasets, with the description of its body."""

from typing import Any

from fastapi import Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from starlette.responses import Response

from app.datasets.registration import register_upload
from app.datasets.schemas import Dataset
from app.datasets.sources import IMPORT_BODY
from app.datasets.uploads import FILE, FILES, PARTS, TEXTS, DatasetUpload, Places
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotencyKey
from app.http.labels import PROJECT_PART
from app.http.openapi import UPLOAD_PROBLEMS, problems
from app.http.responses import ACCEPTED
from app.http.route import JsonRoute, Router
from app.http.services import UseServices
from app.http.uploads import receive_upload, receiving, refuse_declared_size
from app.uploads.finished import StoredUploads
from core.data.options import FORMATS

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_FILE_PART = {"type": "string", "format": "binary", "minLength": 1}
_UPLOAD_PROPERTIES: dict[str, Any] = {
    "file": {
        **_FILE_PART,
        "description": "LETOR, LightGBM, CSV, TSV, Parquet or TREC qrels; plain, gzip or Zstandard",
    },
    **{
        part: {**_FILE_PART, "description": f"The {part} part, instead of `file`: a separate dataset"}
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
    "format": {"type": "string", "enum": list(FORMATS), "description": "`auto` detects it"},
    "non_contiguous_queries": {
        "type": "string",
        "enum": ["regroup", "error"],
        "description": "Gather or refuse queries with non-contiguous rows",
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
        " `features`, `categorical_features` (texts or whole numbers) and `ignore`. Default:"
        " detected by the usual names",
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

    Until then it is `pending`; if it cannot be read, `invalid` with up to 100 errors by line and column. The
    response is the dataset of the first part; `parts` names all. A part may be the text `upload:upl_…`, a
    finished resumable upload.

    A JSON body names addresses below `RANKERY_SOURCES`, or finished resumable uploads.
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
