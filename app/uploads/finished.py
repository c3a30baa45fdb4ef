"""Resumable uploads as files of a form: a part of it may be the text `upload:upl_…`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.http.uploads import BLOCK_BYTES, ReceivedFile
from core.errors import InvalidInput, NotFound
from core.store import Store
from core.store.artifacts.keys import upload_part_key
from core.store.tables import UploadPart


@dataclass(frozen=True)
class StoredUpload:
    """A complete upload.

    Attributes:
        store: Where its parts are.
        file: What it becomes.
        parts: Its parts; none once it was used.
    """

    store: Store
    file: ReceivedFile
    parts: Sequence[UploadPart]

    def blocks(self) -> Iterator[bytes]:
        """Yield its bytes.

        Raises:
            NotFound: It was deleted meanwhile.
        """
        for part in self.parts:
            with self.store.artifacts.open(upload_part_key(part.upload_id, part.name)) as file:
                while block := file.read(BLOCK_BYTES):
                    yield block


class StoredUploads:
    """The resumable uploads of an API key.

    Args:
        store: Where they are.
        key_id: The key, None where none is needed.
    """

    def __init__(self, store: Store, key_id: str | None) -> None:
        self._store = store
        self._key_id = key_id

    def find(self, upload_id: str) -> StoredUpload:
        """Return a complete upload.

        Raises:
            InvalidInput: There is none of the key, or it is not complete.
        """
        with self._store.read() as tx:
            try:
                upload = tx.uploads.get(upload_id, self._key_id)
            except NotFound as error:
                raise InvalidInput.at("", f"{error}; it may have expired") from error
            parts = tx.uploads.parts(upload_id)
        if upload.size_bytes is None or upload.received_bytes < upload.size_bytes:
            size = "?" if upload.size_bytes is None else f"{upload.size_bytes:,}"
            detail = f"is not complete: {upload.received_bytes:,} of {size} bytes have arrived"
            raise InvalidInput.at("", detail)
        file = ReceivedFile(upload.filename or "upload", upload.size_bytes, upload.sha256 or "", upload.id)
        return StoredUpload(self._store, file, parts)
