"""The tables of resumable uploads."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, Base


class Upload(Base):
    """A resumable upload: open until it expires or is used.

    Attributes:
        filename: Name of the file, or None.
        metadata_header: The header `Upload-Metadata` as sent, empty without one.
        size_bytes: Size of the whole file; None until the client declares it.
        received_bytes: Number of stored bytes, the offset of the next one.
        writer: Fencing token of the request that may add bytes; None before the first request.
        key_id: The API key that created it, None without authentication.
        sha256: Checksum of the file; None until it is used.
        used_at: Time at which its bytes were copied to their target; None until then.
        expires_at: Time of its removal.
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
    """A stored piece of a resumable upload.

    Attributes:
        start: Offset of its first byte in the file.
        name: Name of its artifact in the folder of the upload.
    """

    __tablename__ = "upload_parts"

    upload_id: Mapped[str] = mapped_column(ID, ForeignKey("uploads.id"), primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(String(64))
