"""The table of click logs."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, Trashable

SERVED, INTERLEAVED = "served", "interleaved"  # kinds of `ClickLog.source` of the service's own clicks


class ClickLog(InProject, Trashable, Base):
    """A click log: `pending` until it was read, then `ready` or `invalid`.

    Attributes:
        source: Its origin, `{"kind": "upload", "filename", "queries_filename", "format", "options"}`,
            `{"kind": "address", "addresses", "files", "credentials", "format", "options", "read"}`,
            `{"kind": "served", "model", "version", "since", "until", "format", "options"}`,
            `{"kind": "interleaved", "interleaving_id", "format", "options"}` or
            `{"kind": "simulation", …}`.
        job_id: The job that reads or makes it.
        size_bytes: Size of the bytes as sent.
        sha256: Checksum of the bytes as sent.
        folder: Folder of the artifacts with its columns. None until it is ready.
        statistics: Counts, see `core.clicks.statistics`. None until it is ready.
        findings: Findings of `core.clicks.doctor`. None until it is ready.
        key_id: The API key that sent it, None without authentication.
        problem: `{"title", "detail", "errors"}` of an invalid log.
    """

    __tablename__ = "click_logs"
    __table_args__ = (Index(None, "status", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    status: Mapped[str] = mapped_column(WORD, default="pending")
    source: Mapped[dict[str, Any]]
    job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    folder: Mapped[str | None] = mapped_column(NAME)
    statistics: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    key_id: Mapped[str | None] = mapped_column(ID, index=True)
    problem: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
