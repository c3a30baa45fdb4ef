"""The table of datasets."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, Trashable


class Dataset(InProject, Trashable, Base):
    """A judged dataset: `pending` until ingested, then `ready` or `invalid`.

    Attributes:
        source: Its origin, `{"kind": "upload", "filename", "format", "options"}`,
            `{"kind": "folder", "folder", "filename", "modified", "part", "format"}`,
            `{"kind": "folder", "folder", "files", "filenames", "modified", "format", "options"}`,
            `{"kind": "address", "addresses", "files", "credentials", "format", "options", "read"}`,
            `{"kind": "clicks", …}` for judgments of a click log, or `{"kind": "synthetic", …}`.
        size_bytes: Size of the bytes as sent.
        sha256: Checksum of the bytes as sent.
        digest: Digest of its content; datasets of one digest are equal. None until it is ready.
        data_key: Key of its Parquet artifact, which datasets of one digest share. None until it is ready.
        statistics: See `core.data.dataset_statistics`.
        feature_names: Names of its features in order, a deferred column; None until it is ready, and for
            datasets of releases that did not store the names.
        findings: Findings of `core.doctor`. None until it is ready.
        parts: The datasets of the same upload, `{"train": "ds_…", "test": "ds_…"}`, or None.
        key_id: The API key that sent it, None without authentication.
        problem: `{"title", "detail", "errors"}` of an invalid dataset.
    """

    __tablename__ = "datasets"
    __table_args__ = (Index(None, "status", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    status: Mapped[str] = mapped_column(WORD, default="pending")
    source: Mapped[dict[str, Any]]
    job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    digest: Mapped[str | None] = mapped_column(SHA256, index=True)
    data_key: Mapped[str | None] = mapped_column(NAME, index=True)
    statistics: Mapped[dict[str, Any] | None]
    feature_names: Mapped[list[str] | None] = mapped_column(deferred=True)
    findings: Mapped[list[dict[str, Any]] | None]
    parts: Mapped[dict[str, str] | None]
    key_id: Mapped[str | None] = mapped_column(ID, index=True)
    problem: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
