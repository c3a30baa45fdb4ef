"""Objects of buckets, and files of repositories of the Hugging Face Hub."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar

from core.data.folders import matching
from core.errors import DatasetError, ExtraMissing, InvalidInput, RankeryError
from core.names import first_names, is_visible
from core.store.artifacts.file_systems import FileSystem
from core.store.faults import REFUSES_CREDENTIALS, failure_reason
from core.store.sources.remote_file import ByteStream, DownloadInterrupted, FileVersion
from core.store.sources.source_urls import EXTRAS, SourceUrl

_RANGE_BYTES = 8 * 2**20
_RETRYABLE_STATUSES = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)

T = TypeVar("T")


class Bucket:
    """An fsspec file system; its errors do not contain messages of the driver."""

    def __init__(self, url: SourceUrl, options: Mapping[str, Any]) -> None:
        self._url = url
        self._options = options
        self._files: FileSystem | None = None

    def files(self, pattern: str | None) -> "list[BucketFile]":
        """Return the file of the URL, or the files of its folder whose names match a pattern.

        Without a pattern, a folder with a single file means that file.

        Raises:
            InvalidInput: No file matches, or several without a pattern.
            DatasetError: The URL does not exist or is not readable.
            DownloadInterrupted: The storage does not answer now.
        """
        url, path = self._url, self._url.storage_path
        if pattern is None and self.run(lambda files: files.info(path))["type"] == "file":
            return [BucketFile(url, self)]
        listed = self.run(lambda files: files.ls(path, detail=True))
        names = [details["name"].rpartition("/")[2] for details in listed if details["type"] == "file"]
        names = matching(filter(is_visible, names), pattern or "*")
        if pattern is None and len(names) > 1:
            several = f"is a folder with the files {first_names(names)}"
            raise InvalidInput.at("/files", f"must name one file: {url} {several}")
        return [BucketFile(url.child(name), self) for name in names]

    def run(self, action: Callable[[Any], T]) -> T:
        """Run an action on the file system once.

        Raises:
            DatasetError: The file does not exist or is not readable.
            DownloadInterrupted: Any other failure.
        """
        try:
            if self._files is None:
                self._files = FileSystem(f"{self._url.scheme}://", 0.0, self._options)
            return self._files.run(action)
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            raise self._dataset_error("but found none that the worker may read") from error
        except ExtraMissing as missing:
            raise ExtraMissing(*EXTRAS[self._url.scheme]) from missing
        except RankeryError:
            raise
        except Exception as error:  # each file system has its own errors
            reason, storage = failure_reason(error), self._url.host or "the Hugging Face Hub"
            status = _status(error)
            if status == HTTPStatus.NOT_FOUND:
                raise self._dataset_error("but found none that the worker may read") from error
            if reason == REFUSES_CREDENTIALS or (
                status is not None and status not in _RETRYABLE_STATUSES and status < 500
            ):
                raise self._dataset_error(f"but {storage} {REFUSES_CREDENTIALS}") from error
            raise DownloadInterrupted(f"{storage} {reason}") from error

    def _dataset_error(self, problem: str) -> DatasetError:
        return DatasetError.at(f"expected a file at {self._url}, {problem}", file=self._url.name)


class BucketFile:
    """An object of a bucket, or a file of the Hugging Face Hub."""

    def __init__(self, url: SourceUrl, bucket: Bucket) -> None:
        self.url = url
        self._bucket = bucket

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Open the file; see `RemoteFile.read`."""
        current = self._version()
        if version != current or not current.is_certain:
            start = 0
        yield ByteStream(current, start, self._blocks(start, current))

    def _version(self) -> FileVersion:
        def file_info(files: Any) -> dict[str, Any]:
            files.invalidate_cache()
            return dict(files.info(self.url.storage_path))

        details = self._bucket.run(file_info)
        if details["type"] != "file":
            raise DatasetError.at(f"expected a file at {self.url}, but found a folder", file=self.url.name)
        return FileVersion(
            int(details["size"]),
            _text(details.get("ETag", details.get("etag"))),
            _time(details.get("LastModified", details.get("updated"))),
            _text(details.get("generation")),
            _text(details.get("blob_id")),
        )

    def _blocks(self, start: int, version: FileVersion) -> Iterator[bytes]:
        size, path = version.size_bytes or 0, self.url.storage_path
        # A read-ahead beyond the range would be discarded.
        options = {"cache_type": "none"} if self.url.scheme == "hf" else {}
        for first in range(start, size, _RANGE_BYTES):
            last = min(first + _RANGE_BYTES, size)
            yield self._bucket.run(_range_reader(path, first, last, options))
        if self._version() != version:
            raise DownloadInterrupted(f"{self.url.name} changed while it was read")


def _status(error: Exception) -> int | None:
    """Return the HTTP status of an error of huggingface_hub, or None."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) and status >= HTTPStatus.BAD_REQUEST else None


def _range_reader(path: str, first: int, last: int, options: Mapping[str, Any]) -> Callable[[Any], bytes]:
    return lambda files: bytes(files.cat_file(path, start=first, end=last, **options))


def _text(value: Any) -> str | None:
    return None if value is None else str(value).strip('"')


def _time(value: Any) -> str | None:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else _text(value)
