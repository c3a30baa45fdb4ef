"""Upload datasets: the form fields, and the datasets created from the files."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.datasets import schemas
from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.schemas import MAX_BASE_NAME_LENGTH, REPEATED_FEATURES, SPLIT_QUERIES, checked_name
from app.http.caller import UseCaller
from app.http.idempotency import IdempotentRequest, UseIdempotencyKey
from app.http.labels import PROJECT_PART, project_problems
from app.http.openapi import UPLOAD_PROBLEMS, problems
from app.http.pointers import problems_of
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import FILE_PART, NAME_PART
from app.http.services import Services, UseServices
from app.uploads.form import FILE, ReceivedFile, ReceivedForm, UploadKeys, receive_form, record_files
from core.data.folders import PARTS
from core.data.options import FORMATS, reading_options
from core.errors import InputProblem, InvalidInput
from core.jobs.folders import dataset_upload_folder
from core.store import Dataset, Job, Transaction, new_id
from core.store.artifacts.keys import dataset_upload_key, query_sizes_key

_QUERY_SIZES_SUFFIX = "_query"
# A text field is short; anything longer is a file sent under the wrong name.
MAX_FIELD_BYTES: Mapping[str, int] = MappingProxyType(
    {
        "name": 4_096,
        "format": 64,
        "non_contiguous_queries": 64,
        "repeated_features": 64,
        "columns": 2**18,
        "feature_names": 2**20,
        "project": 400,
    }
)
IMPORT_EXAMPLES: Any = {
    "bucket": {
        "summary": "Several objects of a bucket as one dataset",
        "value": {
            "source": "s3://clicks/2026-05",
            "files": "part-*.parquet",
            "name": "clicks of May",
            "credentials": "warehouse",
        },
    },
    "web": {
        "summary": "A file of a web server",
        "value": {"source": "https://data.example.org/train.txt.gz", "format": "letor"},
    },
    "parts": {
        "summary": "The parts of a dataset of the Hugging Face Hub",
        "value": {
            "name": "toy",
            "parts": {"train": "hf:org/toy/train.parquet", "test": "hf:org/toy/test.parquet"},
        },
    },
    "upload": {
        "summary": "A finished resumable upload",
        "value": {"source": "upload:upl_01k9x2m4q7c8v5n3b6r1", "name": "clicks of May", "format": "csv"},
    },
    "ir_datasets": {"summary": "Judgments of ir_datasets", "value": {"source": "ir_datasets:vaswani"}},
}
_UPLOAD_PROPERTIES: dict[str, Any] = {
    "file": {
        **FILE_PART,
        "description": "LETOR, LightGBM, CSV, TSV, Parquet or TREC qrels; plain, gzip or Zstandard",
    },
    **{
        part: {**FILE_PART, "description": f"The {part} part, instead of `file`: a separate dataset"}
        for part in PARTS
    },
    **{
        f"{part}_query": {**FILE_PART, "description": f"LightGBM's query file for `{part}`"}
        for part in (FILE, *PARTS)
    },
    "name": {
        **NAME_PART,
        "description": "Display name; by default the name of the file. With several parts, each dataset's"
        " part is appended",
    },
    "project": PROJECT_PART,
    "format": {"type": "string", "enum": list(FORMATS), "description": "`auto` detects it"},
    "non_contiguous_queries": {
        "type": "string",
        "enum": ["regroup", "error"],
        "description": SPLIT_QUERIES,
    },
    "repeated_features": {
        "type": "string",
        "enum": ["last", "reject"],
        "description": REPEATED_FEATURES,
    },
    "columns": {
        "type": "string",
        "description": "JSON object with the column names of a table by role: `label`, `query`, `document`,"
        " `query_weight`, `document_weight`, `query_text`, `document_title` and `document_url`; as lists"
        " `query_columns`, `document_columns`, `features`, `categorical_features` (texts or whole numbers)"
        " and `ignore`. Default: detected by the usual names",
    },
    "feature_names": {
        "type": "string",
        "description": "JSON, as text or as a file: feature names by feature id, or as a list",
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
                        "file": "grade,search,bm25\n2,shoes,12.5\n",
                        "columns": '{"label": "grade", "query": "search"}',
                    },
                },
                "texts": {
                    "summary": "A table with the texts of queries and the titles of documents",
                    "value": {
                        "file": "label,query_id,search,document_id,title,link,bm25\n"
                        "2,q1,red shoes,d1,Shoe A,https://shop.example/a,12.5\n",
                        "columns": '{"query_text": "search", "document_url": "link"}',
                    },
                },
                "categories": {
                    "summary": "A table with a feature whose values are texts",
                    "value": {
                        "file": "label,query_id,bm25,brand\n2,q1,12.5,acme\n",
                        "columns": '{"categorical_features": ["brand"]}',
                    },
                },
            },
        },
        "application/json": {
            "schema": {"$ref": "#/components/schemas/AddressDatasetRequest"},
            "examples": IMPORT_EXAMPLES,
        },
    },
}

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)


def new_dataset_ids() -> dict[str, str]:
    """Return an id for each part that may become a dataset, before its bytes arrive."""
    return {part: new_id("ds_") for part in (FILE, *PARTS)}


def upload_keys(ids: Mapping[str, str]) -> UploadKeys:
    """Return the artifact keys of all files of a form whose datasets get these ids."""
    by_field = {
        field: key
        for part, dataset_id in ids.items()
        for field, key in (
            (part, dataset_upload_key(dataset_id)),
            (part + _QUERY_SIZES_SUFFIX, query_sizes_key(dataset_id)),
        )
    }
    return UploadKeys(MappingProxyType(by_field), [*map(dataset_upload_folder, ids.values())])


@dataclass(frozen=True)
class DatasetUpload:
    """A complete and consistent upload.

    Attributes:
        options: Reading options as JSON, without the format.
    """

    received: ReceivedForm
    parts: tuple[str, ...]
    options: dict[str, Any]
    format: str

    @classmethod
    def of(cls, received: ReceivedForm) -> "DatasetUpload":
        """Validate the received files.

        Raises:
            InvalidInput: With a pointer for each part that is missing, contradicts another or is invalid.
        """
        options, problems = received.options(("columns", "feature_names"))
        problems = [*_contradictions(received.files), *project_problems(received.fields), *problems]
        problems += problems_of(lambda: reading_options(options))
        if problems:
            raise InvalidInput(*problems)
        parts = tuple(part for part in (FILE, *PARTS) if part in received.files)
        upload = cls(received, parts, options, str(options.pop("format", "auto")))
        for part in parts:
            checked_name(upload.name_of(part))
        return upload

    def name_of(self, part: str) -> str:
        """Return the display name of the dataset in a part."""
        name = self.received.fields.get("name")
        if name is None:
            return self.received.files[part].filename[-MAX_BASE_NAME_LENGTH:]
        return name if part == FILE or not name else f"{name} {part}"

    @property
    def size_bytes(self) -> int:
        """Total size of the files."""
        return sum(self._size_bytes(part) for part in self.parts)

    def add(self, tx: Transaction, ids: Mapping[str, str], key_id: str | None = None) -> list[Dataset]:
        """Record a dataset for each part, owned by the API key of the upload; `ids` has one id per part."""
        ids = {part: ids[part] for part in self.parts}
        return [
            tx.datasets.add(
                self.name_of(part),
                self._source(part),
                dataset_id,
                size_bytes=self._size_bytes(part),
                sha256=self.received.files[part].sha256,
                parts=None if self.parts == (FILE,) else ids,
                key_id=key_id,
                project=self.received.fields.get("project"),
            )
            for part, dataset_id in ids.items()
        ]

    def _size_bytes(self, part: str) -> int:
        """Return the size of the file of a part with its file of query sizes."""
        files = self.received.files
        return sum(files[name].size_bytes for name in (part, part + _QUERY_SIZES_SUFFIX) if name in files)

    def _source(self, part: str) -> dict[str, Any]:
        filename = self.received.files[part].filename
        source = {"kind": "upload", "filename": filename, "format": self.format, "options": self.options}
        sizes = self.received.files.get(part + _QUERY_SIZES_SUFFIX)
        if sizes is not None:
            source["query_sizes_filename"] = sizes.filename
        return source


def _contradictions(files: Mapping[str, ReceivedFile]) -> list[InputProblem]:
    parts = [part for part in (FILE, *PARTS) if part in files]
    if not parts:
        detail = "required: the dataset, as a part with this name and a filename; or train, validation, test"
        return [InputProblem(f"/{FILE}", detail)]
    problems = [
        InputProblem(
            f"/{field}", f"requires a part {field.removesuffix(_QUERY_SIZES_SUFFIX)}, which is missing"
        )
        for field in files
        if field.endswith(_QUERY_SIZES_SUFFIX) and field.removesuffix(_QUERY_SIZES_SUFFIX) not in files
    ]
    if FILE in files and len(parts) > 1:
        problems.append(InputProblem(f"/{FILE}", f"send either file or {', '.join(PARTS)}"))
    return problems


@router.post(
    "",
    summary="Upload or import a dataset",
    status_code=ACCEPTED,
    response_model=schemas.Dataset,
    responses=problems(*UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": _UPLOAD_BODY},
)
async def upload_dataset(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Upload judged files as datasets; a job reads each of them.

    Until then a dataset is `pending`; if its file cannot be read, the dataset is `invalid`, with up to 100
    errors by line and column. The response is the dataset of the first part; `parts` names all. A part may
    be the text `upload:upl_…`, a finished resumable upload.

    A JSON body names URLs that begin with a prefix of `RANKERY_SOURCES`, or finished resumable uploads.
    """
    ids = new_dataset_ids()
    limit = services.settings.max_upload_bytes
    upload = await receive_form(request, services, upload_keys(ids), MAX_FIELD_BYTES, limit, DatasetUpload.of)
    idempotent = idempotency.of(upload.received.request_digest)
    return await run_in_threadpool(register_upload, services, caller.key_id, idempotent, upload, ids)


def register_upload(
    services: Services,
    key_id: str | None,
    idempotency: IdempotentRequest,
    upload: DatasetUpload,
    ids: Mapping[str, str],
) -> Response:
    """Record a dataset for each part of an upload, and queue the jobs that read them; blocks.

    Args:
        key_id: API key of the request, None without authentication.
        ids: Ids of the datasets by part. Their files are removed if the datasets are not recorded.

    Returns:
        The 202 response with the first dataset.

    Raises:
        ByteQuotaExceeded: The key exceeds its quota of bytes.
        JobQuotaExceeded: The key exceeds its quota of jobs.
        WrongState: A resumable upload was used before.
    """
    settings = services.settings

    def record(tx: Transaction) -> tuple[JSONResponse, list[Job]]:
        # `record_files` has marked resumable uploads as used, so the quota no longer counts them as uploads:
        # count all bytes as the datasets'.
        tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, upload.size_bytes)
        tx.quotas.allow_jobs(key_id, settings.max_active_jobs, len(upload.parts))
        datasets = upload.add(tx, ids, key_id)
        jobs = [queue_ingestion(tx, dataset, key_id) for dataset in datasets]
        return accepted_dataset(datasets[0]), jobs

    files, folders = upload.received.files.values(), upload_keys(ids).folders
    return record_files(services, key_id, idempotency, files, folders, record)
