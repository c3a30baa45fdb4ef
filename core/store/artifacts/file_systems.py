"""fsspec file systems with retries over a network, and remote objects as files."""

import errno
import functools
import io
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeVar, cast

import fsspec
from fsspec.asyn import AsyncFileSystem, sync
from fsspec.implementations.local import LocalFileSystem

from core.errors import ExtraMissing, StoreUnavailable
from core.store.artifacts.multipart import DOWNLOAD_PART_BYTES, receive_parts, send_to_s3

T = TypeVar("T")

LISTING_SECONDS = 3.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0

_OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "s3": {
            # A cached listing would hide the writes and removals of other processes.
            "use_listings_cache": False,
            # Four concurrent parts of a large object bound the memory of a read.
            "max_concurrency": 4,
            "default_block_size": 8 * 2**20,
            # `run` retries instead, so that retries end after `patience_seconds`.
            "config_kwargs": {
                "signature_version": "s3v4",  # also of signed URLs; some servers reject older versions
                "connect_timeout": 3,
                "read_timeout": 10,
                "retries": {"mode": "standard", "total_max_attempts": 1},
            },
        },
        "gs": {"use_listings_cache": False},
    }
)
_EXTRAS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "s3": ("an artifact storage on S3", "s3"),
        "gs": ("an artifact storage on Google Cloud Storage", "gcs"),
        "hf": ("a repository of the Hugging Face Hub", "huggingface"),
    }
)
# Errors and error numbers that are not transient.
_FINAL = (
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
    ValueError,
    TypeError,
)
_FINAL_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EINVAL, errno.EPERM)

_log = logging.getLogger(__name__)


class FileSystem:
    """An fsspec file system at a URL.

    A forked child opens its own connections, since those of the parent belong to the parent's event loop. It
    keeps the inherited object unused: closing it would remove the parent's sockets from that loop.

    Args:
        url: A URL that fsspec supports.
        patience_seconds: How long a failed action is retried on a remote storage.
        options: Additional options of the file system, such as credentials.

    Attributes:
        root: Prefix of the paths of all files below the URL.
        is_local: Whether the paths are files of this machine.

    Raises:
        StoreUnavailable: fsspec does not support the URL.
        ExtraMissing: The package for its protocol is not installed.
    """

    def __init__(
        self, url: str, patience_seconds: float, options: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self._url = url
        self._options = options
        self._patience_seconds = patience_seconds
        self._inherited: list[Any] = []
        try:
            self._files, self.root = self._open()
        except (ValueError, ImportError) as error:
            if isinstance(error, ImportError) and _protocol(url) in _EXTRAS:
                raise ExtraMissing(*_EXTRAS[_protocol(url)]) from error
            raise StoreUnavailable(f"the storage cannot be opened: {error}") from error
        self._pid = os.getpid()
        self.is_local = isinstance(self._files, LocalFileSystem)

    def run(self, action: Callable[[Any], T]) -> T:
        """Run an idempotent action; on a remote storage, retry it after transient errors until a timeout.

        Args:
            action: Called with the file system.

        Raises:
            Exception: The error of the last attempt; each file system has its own errors.
        """
        deadline = time.monotonic() + self._patience_seconds
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return action(self._file_system_of_process())
            except Exception as error:
                if self._is_final(error) or time.monotonic() + pause > deadline:
                    raise
                _log.warning("the storage failed; retrying: %s", error)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def send(self, file: str, path: str) -> None:
        """Upload a local file; on object storages it becomes visible when complete."""
        if _protocol(self._url) == "s3":
            self.run(lambda files: send_to_s3(files, Path(file), path, self.run))
        else:
            self.run(lambda files: files.put_file(file, path))

    def receive(self, path: str, file: str) -> None:
        """Download a file; each part of a large one is retried separately."""
        size_bytes = self.run(lambda files: int(files.size(path)))
        if size_bytes > DOWNLOAD_PART_BYTES:
            receive_parts(path, size_bytes, Path(file), self.run)
        else:
            self.run(lambda files: files.get_file(path, file))

    def check(self) -> None:
        """Check the file system once, with a short timeout if it is asynchronous.

        Raises:
            Exception: It fails or times out; each file system has its own errors.
        """
        files = self._file_system_of_process()
        try:
            if isinstance(files, AsyncFileSystem):
                sync(files.loop, files._ls, self.root, detail=False, refresh=True, timeout=LISTING_SECONDS)
            else:
                files.ls(self.root, detail=False)
        except FileNotFoundError as error:
            # The first artifact creates the folder. For a missing bucket the cause is the server's error.
            if error.__cause__ is not None:
                raise

    def _open(self) -> tuple[Any, str]:
        options = dict(_OPTIONS.get(_protocol(self._url), {}))
        if _protocol(self._url) == "s3":
            options["session"] = _s3_session(os.getpid())
        options |= self._options
        if _protocol(self._url) == "gs":
            # Over gRPC, gcsfs would request the kind of each bucket, in threads that do not survive a fork.
            os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        # Skip the instance cache of fsspec: every forked child would close the cached instances.
        files, root = fsspec.core.url_to_fs(self._url, skip_instance_cache=True, **options)
        if _protocol(self._url) == "s3":
            files.retries = 1  # number of attempts, the first included
        return files, str(root)

    def _file_system_of_process(self) -> Any:
        if self._pid != os.getpid():
            self._inherited.append(self._files)
            self._files, self._pid = self._open()[0], os.getpid()
        return self._files

    def _is_final(self, error: Exception) -> bool:
        has_final_number = isinstance(error, OSError) and error.errno in _FINAL_NUMBERS
        return self.is_local or has_final_number or isinstance(error, _FINAL)


@functools.lru_cache(1)
def _s3_session(_pid: int) -> Any:
    """Return the S3 session shared by all clients of a process, which is slow to create."""
    from aiobotocore.session import AioSession

    return AioSession()


def _protocol(url: str) -> str:
    return url.partition("://")[0]


# Smallest range request, for readers by line or by block.
BUFFER_BYTES = 2**20
# Largest read-ahead of sequential reads; fewer requests mean less latency.
READ_AHEAD_BYTES = 2**23


class _Ranges(io.RawIOBase):
    """A remote object read in ranges that grow during sequential reads."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._position = 0
        self._piece = memoryview(b"")
        self._piece_stop = 0
        self._ahead = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise ValueError("the position lies before the start")
        self._position = origin + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        if self._position >= self._size:
            return 0
        start = self._position - (self._piece_stop - len(self._piece))
        if not 0 <= start < len(self._piece):
            self._load(len(buffer))
            start = 0
        content = self._piece[start : start + len(buffer)]
        buffer[: len(content)] = content
        self._position += len(content)
        if self._position == self._piece_stop:
            self._piece = memoryview(b"")  # free the range before the next range is fetched
        return len(content)

    def _load(self, wanted: int) -> None:
        is_sequential = self._position == self._piece_stop
        self._ahead = min(max(2 * self._ahead, wanted), READ_AHEAD_BYTES) if is_sequential else 0
        stop = min(self._position + max(wanted, self._ahead), self._size)
        self._piece, self._piece_stop = memoryview(self._fetch(self._position, stop)), stop

    def readall(self) -> bytes:
        content = self._fetch(self._position, self._size) if self._position < self._size else b""
        self._position += len(content)
        return content


def open_ranges(size: int, fetch: Callable[[int, int], bytes]) -> BinaryIO:
    """Open a remote object as a buffered, seekable binary file.

    Args:
        size: Size of the object in bytes.
        fetch: Called with `start` and `stop`; returns the bytes of this half-open range.
    """
    return cast("BinaryIO", io.BufferedReader(_Ranges(size, fetch), BUFFER_BYTES))
