"""Requests and responses of click logs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.datasets.schemas import CredentialsName, DatasetChanges, Finding, SourceUrl
from app.http.labels import NewProject, ShownProject
from app.http.schemas import (
    DisplayName,
    FailureReason,
    Json,
    PageModel,
    RequestModel,
    ResponseModel,
    example,
)
from app.uploads.source_urls import UPLOAD_PREFIX
from core.clicks.reading.options import ROLES, ClickLogFormat, log_options
from core.data.folders import MAX_FILES, MAX_PATTERN_LENGTH
from core.store.repositories.datasets import DataStatus

_LOG: dict[str, Any] = {
    "id": "clk_01k9x2m4q7c8v5n3b6r1",
    "name": "clicks of May",
    "status": "ready",
    "source": {"kind": "upload", "filename": "clicks.csv", "format": "table", "options": {}},
    "job_id": "job_01k9x2m4q7c8v5n3b6r2",
    "size_bytes": 123_456_789,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "statistics": {"lists": 100_000, "impressions": 1_000_000, "clicks": 61_000, "rank_base": 1},
    "findings": [],
    "problem": None,
    "project": "web",
    "created_at": "2026-01-05T09:30:00Z",
    "updated_at": "2026-01-05T09:30:41Z",
}


class ClickLog(ResponseModel):
    """A click log: ranked lists that users saw, and their clicks."""

    model_config = example(_LOG)

    id: str
    name: str
    status: DataStatus = Field(
        description="`pending` while the log is read, then `ready`, or `invalid` with a `problem`"
    )
    source: Json = Field(
        description="`kind` is `upload`, `address`, `served`, `interleaved` or `simulation`, with its"
        " parameters"
    )
    job_id: str | None = Field(description="Job that reads or creates the log")
    size_bytes: int | None = Field(description="Total size of the files")
    sha256: str | None = Field(description="Digest of an uploaded file, else null")
    statistics: dict[str, Any] | None = Field(
        description="Counts of lists, impressions, clicks, queries, documents and users, clicks by rank, and"
        " the lowest rank of the file, 0 or 1"
    )
    findings: list[Finding] | None = Field(
        description="Findings of the data checks, errors first; null until the log is ready"
    )
    problem: FailureReason | None = Field(
        description="Why the log is invalid; `errors` lists up to 100 errors by file, line, column and text"
    )
    project: ShownProject
    created_at: datetime
    updated_at: datetime


class ClickLogPage(PageModel):
    """A page of click logs, newest first by default."""

    items: list[ClickLog]


class ClickLogChanges(DatasetChanges):
    """Changes of a click log's name and project; omitted fields stay."""

    name: DisplayName | None = Field(None, examples=["clicks of May"])


COLUMNS = f"Column names of a table by role: {', '.join(f'`{role}`' for role in ROLES)}"
ACTIONS = "Weights of actions by name; other actions are counted and ignored. Default: `click` has weight 1"
Actions = Annotated[
    dict[str, float] | None,
    Field(max_length=30, description=ACTIONS, examples=[{"click": 1, "purchase": 5}]),
]
RANK_BASE = "Lowest rank of the file; by default detected, and shown in `statistics`"


class AddressLogRequest(RequestModel):
    """URLs that `RANKERY_SOURCES` allows, or a resumable upload, to read as a click log."""

    source: SourceUrl | Annotated[list[SourceUrl], Field(min_length=1, max_length=MAX_FILES)] = Field(
        description="URL that begins with `s3://`, `gs://`, `https://`, `hf://datasets/ORG/NAME/`, or"
        " `upload:` and an id; with `files` the URL of a folder",
        examples=["s3://clicks/2026-05/part-0.parquet"],
    )
    files: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="File name pattern in a bucket or repository, for up to 1,000 files",
        examples=["part-*.parquet"],
    )
    name: DisplayName | None = Field(
        None, description="Display name; by default the URL or the name of the file"
    )
    format: ClickLogFormat = Field("auto", description="`auto` detects it")
    columns: dict[str, str] | None = Field(
        None, max_length=20, description=COLUMNS, examples=[{"document": "sku", "rank": "place"}]
    )
    actions: Actions = None
    rank_base: Literal[0, 1] | None = Field(None, description=RANK_BASE)
    credentials: CredentialsName = None
    project: NewProject = None

    def options(self) -> dict[str, Any]:
        """Return the reading options as JSON, without the format.

        Raises:
            InvalidInput: An option is invalid.
        """
        options = self.model_dump(include={"columns", "actions", "rank_base"}, exclude_none=True)
        log_options(options)
        return options

    @property
    def is_upload(self) -> bool:
        """Whether the source is a resumable upload."""
        return isinstance(self.source, str) and self.source.startswith(UPLOAD_PREFIX)
