"""Datasets as requested and as shown."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from app.schemas.base import DatasetName, FailureReason, Json, NextCursor, RequestModel, ResponseModel
from app.schemas.findings import Finding
from core.errors import InvalidInput

MAX_QUERIES = 200_000
# Any signed 64-bit integer seeds a generator; negative ones have no meaning there.
MAX_SEED = 2**63 - 1


class SyntheticDatasetRequest(RequestModel):
    """A dataset drawn from a random cubic polynomial (Burges et al. 2006, section 5)."""

    name: DatasetName | None = None
    queries: int = Field(ge=1, le=MAX_QUERIES, description="How many queries", examples=[1000])
    seed: int = Field(0, ge=0, le=MAX_SEED, description="Seed of the documents and their noise")
    polynomial_seed: int = Field(
        0, ge=0, le=MAX_SEED, description="Seed of the hidden function; share it between train and test sets"
    )


class Dataset(ResponseModel):
    """A judged dataset: queries, their documents, features and labels."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "ds_01k9x2m4q7c8v5n3b6r1",
                    "name": "web30k fold 1",
                    "status": "ready",
                    "source": {"kind": "upload", "filename": "train.txt.gz", "format": "letor"},
                    "job_id": "job_01k9x2m4q7c8v5n3b6r2",
                    "size_bytes": 123_456_789,
                    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "digest": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                    "parts": None,
                    "statistics": {"queries": 18_919, "documents": 2_270_296, "features": 136},
                    "findings": [],
                    "problem": None,
                    "created_at": "2026-01-05T09:30:00Z",
                    "updated_at": "2026-01-05T09:30:41Z",
                }
            ]
        },
    )

    id: str
    name: str
    status: Literal["pending", "ready", "invalid"] = Field(
        description="`pending` while it is read, then `ready`, or `invalid` with a `problem`"
    )
    source: Json = Field(description="`kind` is `upload` or `synthetic`; the rest says which")
    job_id: str | None = Field(description="The job that reads it")
    size_bytes: int | None = Field(description="Length of the uploaded file")
    sha256: str | None = Field(description="Digest of the uploaded file")
    digest: str | None = Field(
        description="Digest of all that decides its content; equal contents are stored once"
    )
    parts: dict[str, str] | None = Field(description="Datasets of one upload, this one among them")
    statistics: dict[str, Any] | None = Field(
        description="Counts of queries, documents, features and labels; documents a query; values of columns"
    )
    findings: list[Finding] | None = Field(description="What the doctor says, errors first; null until ready")
    problem: FailureReason | None = Field(
        description="Why it is invalid; `errors` has up to 100 mistakes by file, line, column and text"
    )
    created_at: datetime
    updated_at: datetime


class DatasetPage(ResponseModel):
    """A page of datasets, newest first."""

    items: list[Dataset]
    next_cursor: NextCursor


_NAME: TypeAdapter[str] = TypeAdapter(DatasetName)


def dataset_name(name: str) -> str:
    """Check a name that came as a part of an upload.

    Raises:
        InvalidInput: It is empty, too long or holds control characters.
    """
    try:
        return _NAME.validate_python(name)
    except ValidationError as error:
        raise InvalidInput.at("/name", error.errors()[0]["msg"]) from error
