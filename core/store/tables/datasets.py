"""Tables of datasets, click logs and uploads."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
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


class Upload(Base):
    """A resumable upload: open until it expires or is used.

    Attributes:
        metadata_header: The header `Upload-Metadata` as sent, empty without one.
        size_bytes: Size of the whole file; None until the client declares it.
        received_bytes: Number of stored bytes, the offset of the next one.
        writer: Fencing token of the request that may add bytes; None before the first request.
        key_id: The API key that created it, None without authentication.
        sha256: Checksum of the file; None until it is used.
        used_at: Time at which its bytes were copied to their target; None until then.
    """

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    filename: Mapped[str | None] = mapped_column(NAME)
    metadata_header: Mapped[str] = mapped_column(Text, default="")
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    received_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    writer: Mapped[str | None] = mapped_column(ID)
    key_id: Mapped[str | None] = mapped_column(ID, index=True)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class UploadPart(Base):
    """A stored part of a resumable upload, at most 16 MiB.

    Attributes:
        start: Offset of its first byte in the file.
        name: Name of its artifact in the folder of the upload.
    """

    __tablename__ = "upload_parts"

    upload_id: Mapped[str] = mapped_column(ID, ForeignKey("uploads.id"), primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(String(64))
