"""Artifacts: bytes under keys, in a local folder, on S3 or any fsspec file system."""

import contextlib
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from core.errors import NotFound, StoreFull, StoreUnavailable
from core.store.artifacts.file_systems import FileSystem, open_ranges
from core.store.faults import failure_reason
from core.temporary_files import DISK_FULL

PATIENCE_SECONDS = 5.0

_MIN_FREE_BYTES = 2**20  # a commit of the embedded database may need as much
_DELETIONS = 8  # concurrent deletions, which mostly wait for the disk or a server
_log = logging.getLogger(__name__)


class Artifacts:
    """Bytes under keys, written atomically.

    A key is a relative path with forward slashes, such as `models/mdl_…/model.txt`. Safe to share between
    threads, and with forked processes. Methods that read an artifact raise `NotFound` if there is none
    under the key, and `StoreUnavailable` if the storage does not answer.

    Args:
        storage_url: URL of a file system of fsspec.
        patience_seconds: How long failed requests to a remote storage are retried.

    Attributes:
        is_local: Whether the artifacts are files of this machine.

    Raises:
        StoreUnavailable: fsspec does not support the URL.
        ExtraMissing: The package for its protocol is not installed.
    """

    def __init__(self, storage_url: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._files = FileSystem(storage_url, patience_seconds)
        self.is_local = self._files.is_local
        self._root = self._files.root

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """Open a binary file to write an artifact atomically; it is published if the block succeeds.

        Raises:
            StoreUnavailable: The storage refuses the write.
            StoreFull: The storage has no space for the artifact.
        """
        with self._reporting_errors(key, writing=True) as path:
            temporary = self._temporary(path)
            file = temporary.open("xb")
        try:
            with file:
                yield file
                file.flush()
                if self.is_local:
                    os.fsync(file.fileno())
            with self._reporting_errors(key, writing=True) as path:
                self._publish(temporary, path)
        except OSError as error:
            if error.errno in DISK_FULL:
                raise StoreFull(f"no space left for {key}: {error}") from error
            raise
        finally:
            temporary.unlink(missing_ok=True)

    def open(self, key: str) -> BinaryIO:
        """Open an artifact to read its bytes; close it afterwards.

        Raises:
            StoreUnavailable: The storage does not answer, now or at any later read.
        """
        if not self.is_local:
            return open_ranges(self.size(key), lambda start, stop: self._range(key, start, stop))
        with self._reporting_errors(key) as path:
            return Path(path).open("rb")

    @contextlib.contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Provide an artifact as a local file during the block; do not change the file."""
        with contextlib.ExitStack() as stack:
            with self._reporting_errors(key) as path:
                if self.is_local:
                    file = Path(path)
                else:
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankery-"))
                    file = Path(folder) / PurePosixPath(path).name
                    self._files.receive(path, str(file))
                if not file.is_file():
                    raise FileNotFoundError(path)
            yield file

    def read_bytes(self, key: str) -> bytes:
        """Return an artifact's bytes."""
        with self.local(key) as file, self._reporting_errors(key):
            return file.read_bytes()

    def write_bytes(self, key: str, content: bytes) -> None:
        """Write bytes under a key, replacing previous ones."""
        with self.writing(key) as file:
            file.write(content)

    def exists(self, key: str) -> bool:
        """Return whether an artifact or folder exists under a key."""
        with self._reporting_errors(key) as path:
            return self._files.run(lambda files: bool(files.exists(path)))

    def size(self, key: str) -> int:
        """Return an artifact's size in bytes."""
        with self._reporting_errors(key) as path:
            return self._files.run(lambda files: int(files.size(path)))

    def readable_url(self, key: str, seconds: int) -> str:
        """Return a URL by which a process without credentials can read one artifact.

        Args:
            seconds: Lifetime of a signed URL, at most that of the credentials that sign it.

        Returns:
            `file:///…` where artifacts are local, else an HTTP URL with a signature for reading.

        Raises:
            StoreUnavailable: The storage signs no URLs, or does not answer.
        """
        with self._reporting_errors(key) as path:
            if self.is_local:
                if not Path(path).is_file():
                    raise FileNotFoundError(path)
                return Path(path).absolute().as_uri()
            url = self._files.run(lambda files: _sign(files, path, seconds))
        if url is None:
            raise StoreUnavailable(
                "the artifact storage cannot sign URLs; store artifacts in a folder or on S3"
            )
        return url

    def version(self, key: str) -> str:
        """Return the version of an artifact, a text that changes whenever the artifact is rewritten."""
        with self._reporting_errors(key) as path:
            if self.is_local:
                status = Path(path).stat()
                return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
            return self._files.run(lambda files: str(files.ukey(path)))

    def files(self) -> Iterator[tuple[str, datetime]]:
        """Yield the keys and modification times of all artifacts."""
        for key, details in self._list_files():
            yield key, _written_at(details)

    def sizes(self, folder: str | None = None) -> Iterator[tuple[str, int]]:
        """Yield the keys and sizes in bytes of all artifacts, or of those below a folder."""
        for key, details in self._list_files(folder):
            yield key, int(details.get("size") or 0)

    def delete(self, key: str) -> None:
        """Remove an artifact or a folder, if it exists."""
        with self._reporting_errors(key) as path, contextlib.suppress(FileNotFoundError):
            self._files.run(lambda files: files.rm(path, recursive=True))

    def delete_all(self, folders: Iterable[str]) -> list[str]:
        """Remove artifacts or folders concurrently; log and return those that could not be removed."""
        failed: list[str] = []

        def delete(folder: str) -> None:
            try:
                self.delete(folder)
            except StoreUnavailable as error:
                _log.warning("%s could not be removed: %s", folder, error)
                failed.append(folder)

        with ThreadPoolExecutor(_DELETIONS, "deletions") as deletions:
            for _ in deletions.map(delete, folders):
                pass
        return failed

    def free_bytes(self) -> int:
        """Return the free bytes of the disk of the artifacts, or of temporary files for a remote storage."""
        folder = Path(self._root) if self.is_local else Path(tempfile.gettempdir())
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free

    def read_fault(self) -> str | None:
        """Check that the storage can be read; return its fault without addresses, or None."""
        try:
            self._files.check()
        except Exception as error:  # noqa: BLE001 - each file system has its own errors
            return failure_reason(error)
        return None

    def fault(self) -> str | None:
        """Check that the storage can be read and written; return its fault without addresses, or None."""
        fault = self.read_fault()
        if fault is not None or not self.is_local:
            return fault
        if Path(self._root).exists() and not os.access(self._root, os.W_OK):
            return "cannot be written to"
        if self.free_bytes() < _MIN_FREE_BYTES:
            return "has no space left"
        return None

    def _list_files(self, folder: str | None = None) -> Iterator[tuple[str, Mapping[str, Any]]]:
        top = self._root if folder is None else f"{self._root}/{_check_key(folder)}"
        try:
            listing = self._files.run(lambda files: files.find(top, detail=True))
        except FileNotFoundError:
            return
        except Exception as error:  # each file system has its own errors
            raise StoreUnavailable(f"the artifact storage {self._reason(error)}") from error
        for path, details in listing.items():
            if not path.endswith("/"):  # an object that marks a folder created in the console of a bucket
                yield path.removeprefix(f"{self._root}/"), details

    def _range(self, key: str, start: int, stop: int) -> bytes:
        with self._reporting_errors(key) as path:
            return self._files.run(lambda files: cast("bytes", files.cat_file(path, start=start, end=stop)))

    @contextlib.contextmanager
    def _reporting_errors(self, key: str, *, writing: bool = False) -> Iterator[str]:
        path = f"{self._root}/{_check_key(key)}"
        try:
            yield path
        except Exception as error:  # each file system has its own errors
            # For a write, the error means that the folder or bucket is missing.
            if isinstance(error, FileNotFoundError) and not writing:
                raise NotFound("artifact", key) from error
            kind = StoreFull if isinstance(error, OSError) and error.errno in DISK_FULL else StoreUnavailable
            raise kind(f"the artifact storage {self._reason(error)}, needed for {key}") from error

    def _reason(self, error: Exception) -> str:
        return f"failed: {error}" if self.is_local else failure_reason(error)

    def _temporary(self, path: str) -> Path:
        # A local file is written in the folder of its target, so that publishing it is an atomic rename.
        folder = Path(path).parent if self.is_local else Path(tempfile.gettempdir())
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f".writing-{secrets.token_hex(8)}"

    def _publish(self, temporary: Path, path: str) -> None:
        if self.is_local:
            temporary.replace(path)
        else:
            self._files.send(str(temporary), path)


def _sign(files: Any, path: str, seconds: int) -> str | None:
    files.size(path)  # raises for a missing object, for which `sign` would also return a URL
    try:
        return str(files.sign(path, expiration=seconds))
    except NotImplementedError:
        return None


def _written_at(details: Mapping[str, Any]) -> datetime:
    moment = details.get("LastModified", details.get("mtime", details.get("created", 0.0)))
    return moment if isinstance(moment, datetime) else datetime.fromtimestamp(moment, UTC)


def _check_key(key: str) -> str:
    parts = key.split("/")
    if "\\" in key or "\0" in key or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{key!r} is not a relative key")
    return key
