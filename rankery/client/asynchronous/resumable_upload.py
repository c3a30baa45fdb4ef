"""Resumable upload of one file in pieces, by the tus protocol."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from rankery.client import uploads
from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.reading import Document, document_of
from rankery.errors import FileUnusable, RankeryApiError, ServiceUnreachable


class AsyncResumableUpload:
    """Upload of one file, which resumes where this process or an earlier one stopped.

    Args:
        transport: Transport of the requests.
        path: The file.
        part: Name of the file in the form.
        retries: Number of retries of other requests; with 0, uploads are not resumed.
        on_bytes: Called with the number of bytes sent; negative for bytes that were not stored.
    """

    def __init__(
        self, transport: AsyncTransport, path: Path, part: str, retries: int, on_bytes: uploads.OnBytes
    ) -> None:
        self._transport = transport
        self._path = path
        self._version = uploads.version_of(path.stat())
        self._size_bytes = self._version[0]
        self._retries = uploads.UploadRetries(retries)
        self._on_bytes = on_bytes
        self._sent_bytes = 0
        self._furthest_offset = 0
        self._stored_id = uploads.StoredUploadId(transport.base_url, path, part, self._version)
        self._id = self._stored_id.read()

    async def send(self) -> str:
        """Send the remaining bytes.

        Returns:
            Reference to the upload for a form, instead of the file.

        Raises:
            FileUnusable: The file cannot be read, or was changed.
            ServiceUnreachable: No bytes were accepted for minutes.
        """
        while True:
            try:
                offset = await self._offset()
                while offset < self._size_bytes:
                    offset = await self._send_piece(offset)
                return f"upload:{self._id}"
            except RankeryApiError as error:
                if self._id is not None and uploads.is_gone(error):
                    self.delete_record()
                elif not uploads.is_retryable(error):
                    raise
                pause = self._retries.pause()
                if pause is None:
                    raise
            except ServiceUnreachable:
                pause = self._retries.pause()
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    def delete_record(self) -> None:
        """Delete the stored id of the upload, which was used or has expired."""
        self._stored_id.delete()
        self._id = None

    async def _offset(self) -> int:
        """Return the offset stored by the service; create the upload if it does not exist."""
        if self._id is None:
            created = await self._transport.request(
                "POST",
                "/v1/uploads",
                headers={
                    **uploads.TUS,
                    "Upload-Length": str(self._size_bytes),
                    "Upload-Metadata": uploads.metadata(self._path),
                },
                repeatable=False,
            )
            self._id = str(document_of(created)["id"])
            self._stored_id.write(self._id)
            return self._record_offset(0)
        response = await self._transport.request("HEAD", f"/v1/uploads/{self._id}", headers=uploads.TUS)
        return self._record_offset(int(response.headers["Upload-Offset"]))

    async def _send_piece(self, offset: int) -> int:
        size = min(uploads.PIECE_BYTES, self._size_bytes - offset)
        with uploads.opened(self._path) as file:
            self._check_unchanged(file)
            file.seek(offset)
            response = await self._transport.send_once(
                "PATCH",
                f"/v1/uploads/{self._id}",
                content=self._blocks(file, size),
                headers={
                    **uploads.TUS,
                    "Content-Type": uploads.PIECE_TYPE,
                    "Content-Length": str(size),
                    "Upload-Offset": str(offset),
                },
            )
            self._check_unchanged(file)
        return self._record_offset(int(response.headers["Upload-Offset"]))

    def _check_unchanged(self, file: IO[bytes]) -> None:
        if uploads.version_of(os.fstat(file.fileno())) != self._version:
            raise FileUnusable(f"{self._path} was changed while it was sent; send it again")

    async def _blocks(self, file: IO[bytes], size: int) -> AsyncIterator[bytes]:
        while size:
            block = file.read(min(size, uploads.BLOCK_BYTES))
            if not block:
                raise FileUnusable(f"{self._path} has become shorter while it was sent")
            size -= len(block)
            self._report_sent(self._sent_bytes + len(block))
            yield block

    def _record_offset(self, offset: int) -> int:
        """Record the offset stored by the service; progress resets the retry deadline."""
        if offset > self._furthest_offset:
            self._furthest_offset = offset
            self._retries.renew()
        self._report_sent(offset)
        return offset

    def _report_sent(self, sent_bytes: int) -> None:
        self._on_bytes(sent_bytes - self._sent_bytes)
        self._sent_bytes = sent_bytes


async def send_upload(
    transport: AsyncTransport, path: str, upload: uploads.Upload, on_bytes: uploads.OnBytes
) -> Document:
    """Create an object from files by one POST; upload large files before it, in pieces.

    Args:
        transport: Transport of the requests.
        path: Path of the collection, such as `/v1/datasets`.
        upload: The files.
        on_bytes: Called with the bytes sent since the last call; negative for bytes to send again.
    """
    large: dict[str, AsyncResumableUpload] = {}
    references: dict[str, str] = {}
    for part, file in upload.larger_than(transport.resumable_bytes).items():
        large[part] = AsyncResumableUpload(transport, file, part, transport.retries, on_bytes)
        references[part] = await large[part].send()
    document = await transport.upload_form(path, upload.with_references(references), on_bytes)
    for finished in large.values():
        finished.delete_record()
    return document
