"""Stored resumable uploads."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import NotFound, UploadTakenOver, WrongState
from core.store.artifacts.keys import resumable_upload_folder
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.repository import insert_row
from core.store.tables import PendingDeletion, Upload, UploadPart

# The largest upload by default, 32 GiB, has 2,048 parts of 16 MiB. The limit stops clients that send a few
# bytes at a time.
MAX_PARTS = 10_000


class Uploads:
    """Resumable uploads within one transaction. An upload is visible only to the API key that created it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        size_bytes: int | None,
        expires_at: datetime,
        *,
        filename: str | None = None,
        metadata_header: str = "",
        key_id: str | None = None,
    ) -> Upload:
        """Add an empty upload.

        Args:
            size_bytes: Size of the file, None if declared later.
            metadata_header: The header `Upload-Metadata` as sent.
            key_id: The API key, None without authentication.
        """
        upload = Upload(
            id=ids.new_id(ids.UPLOAD),
            filename=filename,
            metadata_header=metadata_header,
            size_bytes=size_bytes,
            key_id=key_id,
            expires_at=expires_at,
        )
        return insert_row(self._session, upload)

    def get(self, id: str, key_id: str | None) -> Upload:
        """Return an upload of an API key.

        Raises:
            NotFound: The upload does not exist, has expired or belongs to another key.
        """
        upload = self._session.get(Upload, id)
        if upload is None or upload.key_id != key_id or upload.expires_at <= utc_now():
            raise NotFound("upload", id)
        return upload

    def require(self, id: str) -> None:
        """Raise if an upload does not exist, whatever API key created it."""
        if self._session.get(Upload, id) is None:
            raise NotFound("upload", id)

    def open_uploads_of(self, key_id: str | None) -> Sequence[Upload]:
        """List the unused uploads of an API key, newest first."""
        rows = select(Upload).where(*open_uploads(key_id))
        return self._session.scalars(rows.order_by(Upload.id.desc())).all()

    def set_size(self, upload: Upload, size_bytes: int) -> None:
        """Set the size of an upload that was created without one."""
        upload.size_bytes = size_bytes
        self._session.flush()

    def begin_writing(self, id: str, start: int, writer: str) -> bool:
        """Assign an upload to a request that sends bytes; a previous request loses it.

        Returns:
            Whether the upload has `start` bytes so far; otherwise nothing is changed.
        """
        assigned = update(Upload).where(Upload.id == id, Upload.received_bytes == start).values(writer=writer)
        return self._session.scalar(assigned.returning(Upload.id)) is not None

    def add_parts(self, id: str, writer: str, parts: Sequence[UploadPart], expires_at: datetime) -> None:
        """Append stored parts to an upload.

        Args:
            writer: The request that it is assigned to.
            parts: Contiguous parts in order.
            expires_at: New time of its expiry.

        Raises:
            UploadTakenOver: Another request has taken the upload over, or it was deleted.
            WrongState: The upload has too many parts.
        """
        first, last = parts[0], parts[-1]
        own_upload = update(Upload).where(
            Upload.id == id, Upload.writer == writer, Upload.received_bytes == first.start
        )
        appended = own_upload.values(received_bytes=last.start + last.size_bytes, expires_at=expires_at)
        if self._session.scalar(appended.returning(Upload.id)) is None:
            raise UploadTakenOver(id)
        self._session.add_all(parts)
        count = select(func.count()).select_from(UploadPart).where(UploadPart.upload_id == id)
        if (self._session.scalar(count) or 0) > MAX_PARTS:
            raise WrongState("upload", id, "received in too many parts", "start again and send larger parts")

    def parts(self, id: str) -> Sequence[UploadPart]:
        """Return the parts of an upload in the order of their bytes."""
        rows = select(UploadPart).where(UploadPart.upload_id == id).order_by(UploadPart.start)
        return self._session.scalars(rows).all()

    def use(self, id: str, key_id: str | None, sha256: str) -> None:
        """Mark an upload as used and its parts as deletable, after the bytes were copied to the target.

        The row stays until its expiry, so that the same request can be repeated.

        Raises:
            WrongState: The upload was used before.
        """
        upload = self.get(id, key_id)
        now = utc_now()
        unused_upload = update(Upload).where(Upload.id == id, Upload.used_at.is_(None))
        used = unused_upload.values(used_at=now, sha256=sha256, writer=None)
        if self._session.scalar(used.returning(Upload.id)) is None:
            raise WrongState("upload", upload.id, "used", "an upload can be used once; upload the file again")
        self._forget_parts([id])

    def delete(self, id: str, key_id: str | None) -> None:
        """Delete an upload, and mark its parts to be deleted."""
        self.get(id, key_id)
        self._delete([id])

    def expired(self) -> Sequence[str]:
        """Return the ids of uploads that have expired."""
        return self._session.scalars(select(Upload.id).where(Upload.expires_at <= utc_now())).all()

    def delete_expired(self) -> Sequence[str]:
        """Delete expired uploads, mark their parts to be deleted, and return their ids."""
        expired = self.expired()
        if expired:
            self._delete(expired)
        return expired

    def _delete(self, uploads: Sequence[str]) -> None:
        self._forget_parts(uploads)
        self._session.execute(delete(Upload).where(Upload.id.in_(uploads)))

    def _forget_parts(self, uploads: Sequence[str]) -> None:
        self._session.execute(delete(UploadPart).where(UploadPart.upload_id.in_(uploads)))
        for upload_id in uploads:
            self._session.merge(PendingDeletion(folder=resumable_upload_folder(upload_id), at=utc_now()))
        self._session.flush()


def open_uploads(key_id: str | None) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that an upload of an API key is neither used nor expired."""
    return has_key(Upload.key_id, key_id), Upload.used_at.is_(None), Upload.expires_at > utc_now()


def has_key(column: InstrumentedAttribute[str | None], key_id: str | None) -> ColumnElement[bool]:
    """Return the condition that a column has an API key, None for requests without authentication."""
    return column.is_(None) if key_id is None else column == key_id
