"""Requests and responses of API keys and the audit log."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.http.labels import ProjectName
from app.http.schemas import Moment, PageModel, RequestModel, ResponseModel, VisibleText, distinct, example


class AuditEntry(ResponseModel):
    """An audited request and its outcome."""

    model_config = example(
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
    )

    id: str
    at: datetime
    key_id: str | None = Field(description="API key of the request; null without authentication")
    method: str
    path: str = Field(description="Path of the request as sent, percent-encoded")
    status: int = Field(
        description="Status of the response; 499 if the client disconnected before the response"
    )
    request_id: str = Field(description="`X-Request-ID` of the request, which is in all its log messages")
    address: str | None = Field(description="Address of the client")


class AuditPage(PageModel):
    """A page of the audit log, newest first."""

    items: list[AuditEntry]


KeyScope = Literal["read", "score", "write", "admin"]

_KEY_EXAMPLE: dict[str, Any] = {
    "id": "key_01k9x2m4q7c8v5n3b6r1",
    "name": "nightly training",
    "hint": "rk_Jx3aQ",
    "scopes": ["score", "write"],
    "created_at": "2026-01-05T09:30:00Z",
    "created_by": None,
    "expires_at": "2026-04-05T09:30:00Z",
    "revoked_at": None,
    "last_used_at": "2026-01-06T02:00:11Z",
    "max_active_jobs": 20,
    "max_stored_bytes": None,
    "projects": ["web"],
}


class KeyRequest(RequestModel):
    """A request to create an API key."""

    name: VisibleText = Field(description="Display name of the key", examples=["nightly training"])
    scopes: Annotated[list[KeyScope], distinct("scope")] = Field(
        min_length=1,
        max_length=4,
        description="`read`: read everything except keys, webhooks, settings and audit log; `write`: also"
        " submit, upload, delete, but not score; `score`: only rank documents and send clicks; `admin`:"
        " everything",
        json_schema_extra={"uniqueItems": True},
    )
    expires_at: Moment | None = Field(
        None, description="Time of expiry; null for a key that is valid until it is revoked"
    )
    max_active_jobs: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="Maximum number of queued and running jobs; null for the default of the service",
    )
    max_stored_bytes: int | None = Field(
        None,
        ge=0,
        le=2**63 - 1,
        description="Maximum bytes of the key's datasets, click logs and open uploads; null for the default"
        " of the service",
    )
    projects: Annotated[list[ProjectName], distinct("project")] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Projects that the key is restricted to; null for all. Not available for keys with"
        " `admin`",
        json_schema_extra={"uniqueItems": True},
        examples=[["web"]],
    )


class Key(ResponseModel):
    """An API key without its secret."""

    model_config = example(_KEY_EXAMPLE)

    id: str
    name: str
    hint: str = Field(description="First characters of the secret")
    scopes: list[KeyScope]
    created_at: datetime
    created_by: str | None = Field(
        description="API key that created this key; null for the command line and without authentication"
    )
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="Time of the last use, to the minute")
    max_active_jobs: int | None
    max_stored_bytes: int | None
    projects: list[str] | None = Field(description="Projects that the key is restricted to; null for all")


class NewKey(Key):
    """A new API key with its secret, which is shown only once."""

    model_config = example({**_KEY_EXAMPLE, "secret": "rk_Jx3aQ0vXq2mYpB7cTn5sKd8wEzRfGhLuA1iOy4VbC6M"})

    secret: str = Field(
        description="Secret to send as `Authorization: Bearer …`; the service does not store it"
    )


class KeyPage(PageModel):
    """A page of API keys, newest first."""

    items: list[Key]
