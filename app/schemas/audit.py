"""The audit as shown."""

from datetime import datetime

from pydantic import ConfigDict, Field

from app.schemas.base import NextCursor, ResponseModel


class AuditEntry(ResponseModel):
    """A request that would change something, and what became of it."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "aud_01k9x2m4q7c8v5n3b6r1",
                    "at": "2026-01-05T09:30:00Z",
                    "key_id": "key_01k9x2m4q7c8v5n3b6r1",
                    "method": "POST",
                    "path": "/v1/jobs",
                    "status": 202,
                    "request_id": "6f1c2a9e5b7d4c3a8e0f1d2c3b4a5968",
                    "address": "192.0.2.7",
                }
            ]
        },
    )

    id: str
    at: datetime
    key_id: str | None = Field(description="The key that it came with; null where there was none")
    method: str
    path: str = Field(description="As it was sent, percent-encoded")
    status: int = Field(description="Status of the answer; 499 where the caller left before it")
    request_id: str = Field(description="Its `X-Request-ID`, under which the log has more")
    address: str | None = Field(description="Where it came from")


class AuditPage(ResponseModel):
    """Entries of the audit, newest first."""

    items: list[AuditEntry]
    next_cursor: NextCursor
