"""Judged files in buckets that are read without an upload, below URLs that the operator allows."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from core.data.folders import MAX_FOLDER_LENGTH, SETTING, FoundFiles, OpenFile, matching
from core.errors import DatasetError, ExtraMissing, InvalidInput, RankeryError, StoreUnavailable
from core.names import is_visible
from core.store.artifacts.file_systems import FileSystem
from core.store.faults import failure_reason
from core.temporary_files import reporting_full_disk
from core.types import OnProgress

SCHEME = "s3://"
_POINTER = "/folder"
_RANGE_BYTES = 16 * 2**20
_INVALID_FOLDER = f"must be a folder of a bucket below {SETTING} that the service may read"

T = TypeVar("T")


class Buckets:
    """Readable folders of buckets, with the credentials of the process's environment.

    Args:
        roots: URLs, `s3://bucket/prefix`; local paths are ignored.
        patience_seconds: How long failed requests are retried.
    """

    def __init__(self, roots: Sequence[Path | str], patience_seconds: float) -> None:
        self._roots = tuple(root for root in roots if isinstance(root, str))
        self._patience_seconds = patience_seconds
        self._files: FileSystem | None = None

    def find(self, folder: str, pattern: str) -> FoundFiles:
        """Find the objects in a folder whose names match a pattern.

        Args:
            pattern: Pattern of `core.data.folders.matching`.

        Raises:
            InvalidInput: The folder is not below a root, is unreadable, or does not hold 1 to 1,000 such
                objects.
            StoreUnavailable: The storage does not answer.
        """
        path = self._path(folder)
        entries = self._run(lambda files: files.ls(path, detail=True))
        objects = {entry["name"].rpartition("/")[2]: entry for entry in entries if entry["type"] == "file"}
        names = matching(filter(is_visible, objects), pattern)
        return FoundFiles(
            SCHEME + path,
            tuple(names),
            sum(int(objects[name]["size"]) for name in names),
            max(_modified_at(objects[name]) for name in names),
        )

    @contextlib.contextmanager
    def opened(self, folder: str, name: str, on_bytes: OnProgress | None = None) -> Iterator[OpenFile]:
        """Copy an object to a temporary file and open the copy.

        Args:
            on_bytes: Called with the bytes copied and the total; may raise to stop.

        Raises:
            DatasetError: The object is missing, unreadable, or changes during the copy.
            StoreUnavailable: The storage does not answer.
            StoreFull: The folder of temporary files is full.
        """
        with tempfile.NamedTemporaryFile(prefix="rankery-") as copy:
            try:
                path = f"{self._path(folder)}/{name}"
                before = self._run(lambda files: files.info(path, refresh=True))
                self._copy(path, int(before["size"]), copy, on_bytes)
                after = self._run(lambda files: files.info(path, refresh=True))
            except InvalidInput as invalid:
                expected = f"expected an object below {SETTING} that the worker may read, but found none"
                raise DatasetError.at(expected, file=name) from invalid
            if _version(after) != _version(before):
                raise DatasetError.changed(name)
            yield OpenFile(Path(copy.name), int(before["size"]), _modified_at(before), ())

    def _copy(self, path: str, size_bytes: int, copy: Any, on_bytes: OnProgress | None) -> None:
        for start in range(0, size_bytes, _RANGE_BYTES):
            stop = min(start + _RANGE_BYTES, size_bytes)
            content = self._range(path, start, stop)
            with reporting_full_disk("an object"):
                copy.write(content)
                copy.flush()
            if on_bytes is not None:
                on_bytes(stop, size_bytes)

    def _range(self, path: str, start: int, stop: int) -> bytes:
        return self._run(lambda files: bytes(files.cat_file(path, start=start, end=stop)))

    def _path(self, folder: str) -> str:
        """Return the bucket and prefix of a URL below a root."""
        url = folder.rstrip("/")
        names = url.removeprefix(SCHEME).split("/")
        is_plain = len(url) <= MAX_FOLDER_LENGTH and is_visible(url) and not {"", ".", ".."} & set(names)
        is_below = any(url == root or url.startswith(f"{root}/") for root in self._roots)
        if not is_below or not is_plain:
            raise InvalidInput.at(_POINTER, _INVALID_FOLDER)
        return url.removeprefix(SCHEME)

    def _run(self, action: Callable[[Any], T]) -> T:
        try:
            if self._files is None:
                self._files = FileSystem(self._roots[0], self._patience_seconds)
            return self._files.run(action)
        except (FileNotFoundError, PermissionError) as error:
            raise InvalidInput.at(_POINTER, _INVALID_FOLDER) from error
        except ExtraMissing as missing:
            raise ExtraMissing("a bucket of judged files", missing.extra) from missing
        except RankeryError:
            raise
        except Exception as error:  # each file system has its own errors
            raise StoreUnavailable(f"the bucket {failure_reason(error)}") from error


def _modified_at(details: Mapping[str, Any]) -> str:
    moment: datetime = details["LastModified"]
    return moment.astimezone(UTC).isoformat()


def _version(details: Mapping[str, Any]) -> tuple[Any, ...]:
    return details.get("ETag"), details["size"], details["LastModified"]
