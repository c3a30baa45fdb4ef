"""Tables of API keys, sessions, idempotent requests, checksums, folders to delete and counters."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Index, String, Text
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
    """An audited request and its outcome."""

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


class ArtifactDigest(Base):
    """The checksum of a stored artifact.

    Attributes:
        sha256: Checksum of the bytes; None for an artifact that was damaged before its checksum was stored.
        damaged_at: Time at which it was found damaged or missing; None while it is intact.
    """

    __tablename__ = "artifact_digests"

    key: Mapped[str] = mapped_column(NAME, primary_key=True)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    damaged_at: Mapped[datetime | None] = mapped_column(index=True)


class PendingDeletion(Base):
    """A folder of artifacts without rows, which is to be deleted; the row is deleted with the folder.

    Attributes:
        at: Time of the last attempt to delete it, at first the time at which the deletion was recorded.
    """

    __tablename__ = "pending_deletions"

    folder: Mapped[str] = mapped_column(NAME, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now)


class StoredCounter(Base):
    """A monotonic counter, shared by all processes.

    Attributes:
        labels: JSON with sorted keys, `{}` for none.
    """

    __tablename__ = "tallies"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    labels: Mapped[str] = mapped_column(NAME, primary_key=True)
    value: Mapped[float] = mapped_column(Double)
