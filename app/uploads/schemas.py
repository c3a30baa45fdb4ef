"""Responses that show resumable uploads."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.http.schemas import ResponseModel

_EXAMPLE: dict[str, Any] = {
    "id": "upl_01k9x2m4q7c8v5n3b6r1",
    "filename": "train.txt.gz",
    "size_bytes": 4294967296,
    "received_bytes": 1073741824,
    "created_at": "2026-01-05T10:00:00Z",
    "expires_at": "2026-01-06T10:02:17Z",
}


class Upload(ResponseModel):
    """A resumable upload."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_EXAMPLE]})

    id: str
    filename: str | None = Field(description="From `Upload-Metadata`; null without one")
    size_bytes: int | None = Field(description="Size of the file; null until it is named")
    received_bytes: int = Field(description="How much of it has arrived and is stored")
    created_at: datetime
    expires_at: datetime = Field(description="When it is removed, unless more of it arrives")


class UploadList(ResponseModel):
    """The open uploads of a caller, newest first."""

    items: list[Upload]
