"""Transfer large files in parts, each retried separately: uploads to S3, and downloads from any storage."""

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

PART_BYTES = 16 * 2**20
CONCURRENT_PARTS = 4
# Largest number of parts of one object on S3.
MAX_PARTS = 10_000
# Smaller than the parts of uploads, since downloaded parts are held in memory.
DOWNLOAD_PART_BYTES = 8 * 2**20

Run = Callable[[Callable[[Any], Any]], Any]


class FileRange(io.RawIOBase):
    """A range of a file as a file-like object.

    Uploads read each part from the disk: with parts as `bytes`, each concurrent part and its unsent buffer
    would be in memory.

    Args:
        start: Position of the range's first byte.
        size_bytes: Length of the range, which must end within the file.
    """

    def __init__(self, path: Path, start: int, size_bytes: int) -> None:
        self._file = path.open("rb", buffering=0)
        self._start = start
        self._size_bytes = size_bytes
        self._position = 0

    def readable(self) -> bool:
        """Return True: the range is readable."""
        return True

    def seekable(self) -> bool:
        """Return True: the range is seekable."""
        return True

    def tell(self) -> int:
        """Return the position in the range."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move within the range."""
        origins = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size_bytes}
        self._position = max(0, origins[whence] + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read bytes up to the end of the range."""
        remaining = self._size_bytes - self._position
        if remaining <= 0:
            return 0
        self._file.seek(self._start + self._position)
        count = self._file.readinto(memoryview(buffer)[:remaining]) or 0
        self._position += count
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def send_to_s3(files: Any, path: Path, target: str, run: Run) -> None:
    """Upload a file; the object appears when the upload is complete.

    Args:
        files: The `s3fs` file system.
        target: Bucket and key.
        run: Runs an action on the file system, with retries until a timeout. It runs each part of a large
            upload separately, since the whole upload may take longer than the timeout.
    """
    bucket, key, _ = files.split_path(target)
    location = {"Bucket": bucket, "Key": key}
    size_bytes = path.stat().st_size
    if size_bytes < 2 * PART_BYTES:
        with closing(FileRange(path, 0, size_bytes)) as content:
            files.call_s3("put_object", Body=content, **location)
    else:
        _send_parts(files, list(ranges(size_bytes)), path, location, run)


def ranges(size_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield start and size of each part of a file."""
    part_bytes = max(PART_BYTES, -(-size_bytes // MAX_PARTS))
    for start in range(0, size_bytes, part_bytes):
        yield start, min(part_bytes, size_bytes - start)


def receive_parts(path: str, size_bytes: int, target: Path, run: Run) -> None:
    """Download a remote file in parts.

    Args:
        run: Runs an action on the file system with retries, see `send_to_s3`.
    """

    def receive(start: int) -> None:
        stop = min(start + DOWNLOAD_PART_BYTES, size_bytes)
        content = run(lambda files: files.cat_file(path, start=start, end=stop))
        with target.open("r+b") as file:
            file.seek(start)
            file.write(content)

    target.touch()
    with ThreadPoolExecutor(CONCURRENT_PARTS, "parts") as receivers:
        for _ in receivers.map(receive, range(0, size_bytes, DOWNLOAD_PART_BYTES)):
            pass


def _send_parts(
    files: Any, parts: list[tuple[int, int]], path: Path, location: dict[str, str], run: Run
) -> None:
    upload = {**location, "UploadId": files.call_s3("create_multipart_upload", **location)["UploadId"]}

    def send(number: int) -> dict[str, Any]:
        def send_once(files: Any) -> Any:
            with closing(FileRange(path, *parts[number - 1])) as content:
                return files.call_s3("upload_part", PartNumber=number, Body=content, **upload)

        return {"PartNumber": number, "ETag": run(send_once)["ETag"]}

    try:
        with ThreadPoolExecutor(CONCURRENT_PARTS, "parts") as senders:
            sent = list(senders.map(send, range(1, len(parts) + 1)))
        _complete(upload, sent, path.stat().st_size, run)
    except BaseException:
        with suppress(Exception):  # raise the error of the upload, not of the abort
            files.call_s3("abort_multipart_upload", **upload)
        raise


def _complete(upload: dict[str, str], sent: list[dict[str, Any]], size_bytes: int, run: Run) -> None:
    """Publish the object; the upload is gone when an attempt whose response was lost has published it."""
    attempts = 0

    def complete_once(files: Any) -> None:
        nonlocal attempts
        attempts += 1
        try:
            files.call_s3("complete_multipart_upload", MultipartUpload={"Parts": sent}, **upload)
        except FileNotFoundError:
            if attempts == 1 or files.size(f"{upload['Bucket']}/{upload['Key']}") != size_bytes:
                raise

    run(complete_once)
