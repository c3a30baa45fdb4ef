"""Stored resumable uploads."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from core.errors import NotFound, UploadTakenOver, WrongState
from core.store.artifacts.keys import resumable_folder
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.rows import added
from core.store.tables import PendingDeletion, Upload, UploadPart

# More than the largest upload has at 16 MiB a part; a few bytes at a time may not fill the table.
MAX_PARTS = 10_000


class Uploads:
    """Resumable uploads within one transaction. An upload exists for the API key that made it alone."""

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
        """Add an upload of which nothing has arrived.

        Args:
            size_bytes: Size of the file, None where it is named later.
            expires_at: When it is removed.
            filename: What its owner calls the file.
            metadata_header: `Upload-Metadata` as it was sent.
            key_id: The API key, None where none is needed.
        """
        upload = Upload(
            id=ids.new_id(ids.UPLOAD),
            filename=filename,
            metadata_header=metadata_header,
            size_bytes=size_bytes,
            key_id=key_id,
            expires_at=expires_at,
        )
        return added(self._session, upload)

    def get(self, id: str, key_id: str | None) -> Upload:
        """Return an upload of an API key.

        Raises:
            NotFound: There is none, it has expired or it is of another key.
        """
        upload = self._session.get(Upload, id)
        if upload is None or upload.key_id != key_id or upload.expires_at <= utc_now():
            raise NotFound("upload", id)
        return upload

    def require(self, id: str) -> None:
        """Raise where there is no upload, of whichever API key.

        Raises:
            NotFound: There is none.
        """
        if self._session.get(Upload, id) is None:
            raise NotFound("upload", id)

    def open_of(self, key_id: str | None) -> Sequence[Upload]:
        """List the uploads of an API key that were not used, newest first."""
        of_key = Upload.key_id.is_(None) if key_id is None else Upload.key_id == key_id
        rows = select(Upload).where(of_key, Upload.used_at.is_(None), Upload.expires_at > utc_now())
        return self._session.scalars(rows.order_by(Upload.id.desc())).all()

    def set_size(self, upload: Upload, size_bytes: int) -> None:
        """Name the size of an upload that was made without."""
        upload.size_bytes = size_bytes
        self._session.flush()

    def begin_writing(self, id: str, start: int, writer: str) -> bool:
        """Give an upload to a request that sends bytes; another one that still does loses it.

        Returns:
            Whether the upload ends at `start`, where those bytes belong; otherwise nothing is changed.
        """
        taken = update(Upload).where(Upload.id == id, Upload.received_bytes == start).values(writer=writer)
        return self._session.scalar(taken.returning(Upload.id)) is not None

    def add_parts(self, id: str, writer: str, parts: Sequence[UploadPart], expires_at: datetime) -> None:
        """Append stored parts to an upload.

        Args:
            id: Of the upload.
            writer: The request that has it.
            parts: Each begins where the one before ends.
            expires_at: When the upload is removed now.

        Raises:
            UploadTakenOver: Another request has taken the upload over, or it was deleted.
            WrongState: It has too many parts.
        """
        first, last = parts[0], parts[-1]
        mine = update(Upload).where(
            Upload.id == id, Upload.writer == writer, Upload.received_bytes == first.start
        )
        appended = mine.values(received_bytes=last.start + last.size_bytes, expires_at=expires_at)
        if self._session.scalar(appended.returning(Upload.id)) is None:
            raise UploadTakenOver(id)
        self._session.add_all(parts)
        count = select(func.count()).select_from(UploadPart).where(UploadPart.upload_id == id)
        if (self._session.scalar(count) or 0) > MAX_PARTS:
            raise WrongState("upload", id, "in too many pieces", "start again and send larger ones")

    def parts(self, id: str) -> Sequence[UploadPart]:
        """Return the parts of an upload in the order of their bytes."""
        rows = select(UploadPart).where(UploadPart.upload_id == id).order_by(UploadPart.start)
        return self._session.scalars(rows).all()

    def use(self, id: str, key_id: str | None, sha256: str) -> None:
        """Mark an upload as used: its bytes have become a file of something else, its parts may go.

        The row stays until it expires, so that the same request may be repeated.

        Raises:
            NotFound: There is none.
            WrongState: They have become one before.
        """
        upload = self.get(id, key_id)
        now = utc_now()
        mine = update(Upload).where(Upload.id == id, Upload.used_at.is_(None))
        used = mine.values(used_at=now, sha256=sha256, writer=None)
        if self._session.scalar(used.returning(Upload.id)) is None:
            raise WrongState("upload", upload.id, "used", "each makes one file; upload it again")
        self._forget_parts([id])

    def delete(self, id: str, key_id: str | None) -> None:
        """Delete an upload, and mark its parts to be deleted.

        Raises:
            NotFound: There is none.
        """
        self.get(id, key_id)
        self._delete([id])

    def expired(self) -> Sequence[str]:
        """Return the ids of uploads that have expired."""
        return self._session.scalars(select(Upload.id).where(Upload.expires_at <= utc_now())).all()

    def delete_expired(self) -> Sequence[str]:
        """Delete what has expired, mark its parts to be deleted, and return the ids."""
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
            self._session.merge(PendingDeletion(folder=resumable_folder(upload_id), at=utc_now()))
        self._session.flush()
