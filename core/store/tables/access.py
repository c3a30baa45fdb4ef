"""Tables of API keys, browser sessions, the audit log and idempotent requests."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base


class ApiKey(Base):
    """An API key.

    Attributes:
        secret_sha256: SHA-256 of the secret, in hexadecimal; the secret itself is not kept.
        hint: The first characters of the secret, to recognize the key in a list.
        scopes: `read`, `score`, `write`, `admin`.
        projects: The projects that it is limited to, None for all.
        created_by: Id of the key that created it, None for the command line.
        max_active_jobs: Quota of active jobs, None for the default of the settings.
        max_stored_bytes: Quota of the bytes of its datasets, click logs and open uploads, None for the
            default of the settings.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    secret_sha256: Mapped[str] = mapped_column(SHA256, unique=True)
    hint: Mapped[str] = mapped_column(WORD)
    scopes: Mapped[list[str]]
    max_active_jobs: Mapped[int | None]
    max_stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    projects: Mapped[list[str] | None]
    created_by: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class BrowserSession(Base):
    """A browser that signed in with a key."""

    __tablename__ = "sessions"

    token_sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    key_id: Mapped[str] = mapped_column(ID, ForeignKey("api_keys.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuditEntry(Base):
    """An audited request and its outcome.

    Attributes:
        key_id: The API key of the request, or None.
        status: HTTP status of the response.
        address: Client address of the request.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "key_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now)
    key_id: Mapped[str | None] = mapped_column(ID)
    method: Mapped[str] = mapped_column(WORD)
    path: Mapped[str] = mapped_column(Text)
    status: Mapped[int]
    request_id: Mapped[str] = mapped_column(NAME)
    address: Mapped[str | None] = mapped_column(NAME)


class IdempotencyRecord(Base):
    """The stored response to a request with an `Idempotency-Key`."""

    __tablename__ = "idempotency_records"

    key: Mapped[str] = mapped_column(NAME, primary_key=True)
    endpoint: Mapped[str] = mapped_column(NAME, primary_key=True)
    request_sha256: Mapped[str] = mapped_column(SHA256)
    status_code: Mapped[int]
    body: Mapped[dict[str, Any]]
    headers: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
