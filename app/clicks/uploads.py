"""Upload click logs: the form fields, and the log created from the files."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.clicks import schemas
from app.clicks.schemas import ACTIONS, COLUMNS, RANK_BASE
from app.datasets.schemas import MAX_BASE_NAME_LENGTH, checked_name
from app.http.caller import UseCaller
from app.http.idempotency import IdempotentRequest, UseIdempotencyKey
from app.http.labels import PROJECT_PART, project_problems
from app.http.openapi import UPLOAD_PROBLEMS, problems
from app.http.pointers import problems_of
from app.http.route import ACCEPTED, JsonRoute, Router, accepted
from app.http.schemas import FILE_PART, NAME_PART
from app.http.services import Services, UseServices
from app.uploads.form import FILE, ReceivedForm, UploadKeys, missing_file, receive_form, record_files
from core.clicks.reading.options import FORMATS, log_options
from core.errors import InvalidInput
from core.jobs.folders import click_log_folder
from core.jobs.ingest import IngestClicksJob
from core.store import ClickLog, Job, Transaction, new_id
from core.store.artifacts.keys import click_log_upload_key

QUERIES = "queries"
# A text field is short; anything longer is a file sent under the wrong name.
MAX_FIELD_BYTES: Mapping[str, int] = MappingProxyType(
    {"name": 4_096, "format": 64, "columns": 2**16, "actions": 2**16, "rank_base": 8, "project": 400}
)
URL_EXAMPLES: Any = {
    "bucket": {
        "summary": "A month of a table in a bucket",
        "value": {
            "source": "s3://clicks/2026-05",
            "files": "part-*.parquet",
            "columns": {"document": "sku", "rank": "place"},
            "credentials": "warehouse",
        },
    },
    "upload": {
        "summary": "A finished resumable upload",
        "value": {"source": "upload:upl_01k9x2m4q7c8v5n3b6r1", "name": "clicks of May"},
    },
}
_PROPERTIES: dict[str, Any] = {
    FILE: {
        **FILE_PART,
        "description": "UBI, Metarank or sessions as JSON lines, Open Bandit, CSV, TSV or Parquet; plain,"
        " gzip or Zstandard. Or the text `upload:upl_…`, a finished resumable upload",
    },
    QUERIES: {**FILE_PART, "description": "UBI's queries, if `file` has only the events"},
    "name": {
        **NAME_PART,
        "description": "Display name; by default the name of the file",
    },
    "project": PROJECT_PART,
    "format": {"type": "string", "enum": list(FORMATS), "description": "`auto` detects it"},
    "columns": {"type": "string", "description": f"JSON. {COLUMNS}. Default: detected by the usual names"},
    "actions": {"type": "string", "description": f"JSON. {ACTIONS}"},
    "rank_base": {"type": "string", "enum": ["0", "1"], "description": RANK_BASE},
}
_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": _PROPERTIES,
                "required": [FILE],
                "additionalProperties": False,
            },
            "examples": {
                "table": {
                    "summary": "A table of impressions with columns of other names",
                    "value": {
                        "file": "search,terms,sku,place,clicked\ns1,shoes,a,1,0\ns1,shoes,b,2,1\n",
                        "columns": '{"list": "search", "query": "terms", "document": "sku", "rank": "place"}',
                    },
                },
            },
        },
        "application/json": {
            "schema": {"$ref": "#/components/schemas/AddressLogRequest"},
            "examples": URL_EXAMPLES,
        },
    },
}

router = Router(prefix="/v1/click-logs", tags=["clicks"], route_class=JsonRoute)


def upload_keys(log_id: str) -> UploadKeys:
    """Return the artifact keys of the files of a form."""
    keys = {field: click_log_upload_key(log_id, field) for field in (FILE, QUERIES)}
    return UploadKeys(MappingProxyType(keys), [click_log_folder(log_id)])


@dataclass(frozen=True)
class LogUpload:
    """A complete and consistent upload of a click log.

    Attributes:
        options: Reading options as JSON, without the format.
    """

    received: ReceivedForm
    options: dict[str, Any]
    format: str

    @classmethod
    def of(cls, received: ReceivedForm) -> "LogUpload":
        """Validate the received files.

        Raises:
            InvalidInput: With a pointer for each part that is missing or invalid.
        """
        options, problems = received.options(("columns", "actions", "rank_base"))
        problems = [*missing_file(received.files, "click log"), *project_problems(received.fields), *problems]
        problems += problems_of(lambda: log_options(options))
        if problems:
            raise InvalidInput(*problems)
        upload = cls(received, options, str(options.pop("format", "auto")))
        checked_name(upload.name)
        return upload

    @property
    def name(self) -> str:
        """Display name of the log."""
        default_name = self.received.files[FILE].filename[-MAX_BASE_NAME_LENGTH:]
        return self.received.fields.get("name", default_name)

    @property
    def size_bytes(self) -> int:
        """Total size of the files."""
        return sum(file.size_bytes for file in self.received.files.values())

    def add(self, tx: Transaction, log_id: str, key_id: str | None) -> ClickLog:
        """Record the log, owned by the API key of the upload."""
        files = self.received.files
        source = {
            "kind": "upload",
            "filename": files[FILE].filename,
            "format": self.format,
            "options": self.options,
        }
        if QUERIES in files:
            source["queries_filename"] = files[QUERIES].filename
        return tx.click_logs.add(
            self.name,
            source,
            log_id,
            size_bytes=self.size_bytes,
            sha256=files[FILE].sha256 if len(files) == 1 else None,
            key_id=key_id,
            project=self.received.fields.get("project"),
        )


def queue_reading(tx: Transaction, log: ClickLog, key_id: str | None, max_bytes: int | None = None) -> Job:
    """Queue the job that reads a pending log, and attach it to the log.

    Args:
        tx: The transaction that recorded the log.
        max_bytes: Largest number of bytes to download, None for no limit.
    """
    job = tx.enqueue(IngestClicksJob(click_log_id=log.id, name=log.name, max_bytes=max_bytes), key_id)
    tx.click_logs.attach_job(log.id, job.id)
    return job


def accepted_log(log: ClickLog) -> JSONResponse:
    """Return a 202 response with a log whose reading was queued."""
    return accepted(schemas.ClickLog.model_validate(log), f"/v1/click-logs/{log.id}")


@router.post(
    "",
    summary="Upload or import a click log",
    status_code=ACCEPTED,
    response_model=schemas.ClickLog,
    responses=problems(*UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": _BODY},
)
async def upload_click_log(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Upload a log of ranked lists and clicks; a job reads it.

    Until then the log is `pending`; if it cannot be read, it is `invalid`, with up to 100 errors by line and
    column. Users are numbered; their names are not stored.

    A JSON body names URLs that begin with a prefix of `RANKERY_SOURCES`, or a finished resumable upload.
    """
    log_id = new_id("clk_")
    limit = services.settings.max_upload_bytes
    upload = await receive_form(request, services, upload_keys(log_id), MAX_FIELD_BYTES, limit, LogUpload.of)
    idempotent = idempotency.of(upload.received.request_digest)
    return await run_in_threadpool(register_log, services, caller.key_id, idempotent, upload, log_id)


def register_log(
    services: Services, key_id: str | None, idempotency: IdempotentRequest, upload: LogUpload, log_id: str
) -> Response:
    """Record a received log, and queue the job that reads it; blocks, so call this function in a thread.

    Raises:
        ByteQuotaExceeded: The key exceeds its quota of bytes.
        JobQuotaExceeded: The key exceeds its quota of jobs.
        WrongState: A resumable upload was used before.
    """
    settings = services.settings

    def record(tx: Transaction) -> tuple[JSONResponse, list[Job]]:
        # `record_files` has marked resumable uploads as used, so the quota no longer counts them as uploads:
        # count all bytes as the log's.
        tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, upload.size_bytes)
        tx.quotas.allow_jobs(key_id, settings.max_active_jobs)
        log = upload.add(tx, log_id, key_id)
        job = queue_reading(tx, log, key_id)
        return accepted_log(log), [job]

    files, folders = upload.received.files.values(), upload_keys(log_id).folders
    return record_files(services, key_id, idempotency, files, folders, record)
