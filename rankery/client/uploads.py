"""Bodies of uploads: multipart, read from the start at each attempt, or resumable."""

import base64
import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, FileIO
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import httpx

from rankery.errors import FileUnusable, RankeryApiError

Files = dict[str, tuple[str, IO[bytes], str] | tuple[None, str]]
OnBytes = Callable[[int], None]


@dataclass(frozen=True)
class Upload:
    """A multipart body.

    Attributes:
        paths: Files by the names of their parts; streamed.
        fields: Text fields by name.
        references: References to files that were uploaded before, by the names of their parts.
    """

    paths: Mapping[str, Path]
    fields: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Total bytes of the files, without the multipart headers.

        Raises:
            FileUnusable: A file does not exist.
        """
        with _convert_read_errors():
            return sum(path.stat().st_size for path in self.paths.values())

    def larger_than(self, size_bytes: int) -> dict[str, Path]:
        """Return the files above a size.

        Raises:
            FileUnusable: A file does not exist.
        """
        with _convert_read_errors():
            return {part: path for part, path in self.paths.items() if path.stat().st_size > size_bytes}

    def with_references(self, references: Mapping[str, str]) -> "Upload":
        """Return the body with references in place of some files."""
        remaining = {part: path for part, path in self.paths.items() if part not in references}
        return Upload(remaining, self.fields, references)

    @contextmanager
    def opened(self, on_bytes: OnBytes) -> Iterator[Files]:
        """Open the files for one attempt.

        Args:
            on_bytes: Called after each read with the number of bytes read.

        Raises:
            FileUnusable: A file cannot be read.
        """
        with ExitStack() as stack:
            with _convert_read_errors():
                files = {
                    part: stack.enter_context(_CountingFile(path, on_bytes))
                    for part, path in self.paths.items()
                }
            sent: Files = {
                part: (sent_name(self.paths[part]), file, "application/octet-stream")
                for part, file in files.items()
            }
            # A part without a filename, which the service reads as a text.
            yield sent | {part: (None, reference) for part, reference in self.references.items()}


class _CountingFile(FileIO):
    def __init__(self, path: Path, on_bytes: OnBytes) -> None:
        super().__init__(path)
        self._path = path
        self._on_bytes = on_bytes
        if not self.seekable():  # a second attempt could not send it again
            self.close()
            raise FileUnusable(f"{path} is a pipe; write it to a file")

    def read(self, size: int | None = -1, /) -> Any:
        with _convert_read_errors(self._path):
            content = super().read(-1 if size is None else size)
        self._on_bytes(len(content or b""))
        return content


def sent_name(path: Path) -> str:
    """Return the name of a file as UTF-8 has it: names of Linux are bytes in any encoding."""
    return path.name.encode("utf-8", "replace").decode()


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read its bytes.

    Raises:
        FileUnusable: The file cannot be read.
    """
    with _convert_read_errors(path), path.open("rb") as file:
        yield file


@contextmanager
def _convert_read_errors(path: Path | None = None) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # names no file if it could be opened but not read
        raise FileUnusable(f"{error.filename or path} cannot be read: {error.strerror}") from error


# Larger files are sent in pieces, and resumed after an interruption.
RESUMABLE_BYTES = 100_000_000
PIECE_BYTES = 64 * 2**20
BLOCK_BYTES = 2**20
TUS: Mapping[str, str] = MappingProxyType({"Tus-Resumable": "1.0.0"})
PIECE_TYPE = "application/offset+octet-stream"

# A service restarts within minutes, and a laptop reconnects to its network within minutes.
_MAX_SECONDS_WITHOUT_PROGRESS = 300.0
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 10.0
_MAX_AGE_SECONDS = 7 * 24 * 3600.0

_EXPIRED_STATUSES = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})
_RETRYABLE_STATUSES = frozenset(
    {
        httpx.codes.REQUEST_TIMEOUT,
        httpx.codes.CONFLICT,  # the offset in the service has changed
        httpx.codes.LOCKED,
        httpx.codes.TOO_MANY_REQUESTS,
    }
)


def is_gone(error: RankeryApiError) -> bool:
    """Return whether the service no longer has the upload."""
    return error.status in _EXPIRED_STATUSES


def is_retryable(error: RankeryApiError) -> bool:
    """Return whether an upload can be resumed after a refusal."""
    is_fault = httpx.codes.is_server_error(error.status)
    return error.status in _RETRYABLE_STATUSES or (
        is_fault and error.status != httpx.codes.INSUFFICIENT_STORAGE
    )


class UploadRetries:
    """Retry limit of an upload: five minutes without progress.

    Args:
        retries: Retries of other requests; 0 disables resumption.
    """

    def __init__(self, retries: int) -> None:
        self._is_enabled = retries > 0
        self.renew()

    def renew(self) -> None:
        """Restart the time limit and the pauses after progress."""
        self._until = time.monotonic() + _MAX_SECONDS_WITHOUT_PROGRESS
        self._pause = _FIRST_PAUSE_SECONDS

    def pause(self) -> float | None:
        """Return the seconds until the next attempt; None if there is no further attempt."""
        if not self._is_enabled or time.monotonic() > self._until:
            return None
        # Jitter: clients that failed at the same time do not retry at the same time.
        pause = self._pause * (0.5 + secrets.randbelow(512) / 1024)
        self._pause = min(2 * self._pause, _MAX_PAUSE_SECONDS)
        return pause


def metadata(path: Path) -> str:
    """Return the `Upload-Metadata` of a file: its name."""
    return f"filename {base64.b64encode(sent_name(path).encode()).decode()}"


def version_of(status: os.stat_result) -> tuple[int, int]:
    """Return the size of a file in bytes and the time of its last change in nanoseconds."""
    return status.st_size, status.st_mtime_ns


class StoredUploadId:
    """The id of an unfinished upload of a file, stored in the user's cache folder.

    If the folder cannot be written, only the process that began an upload can resume it.

    Args:
        part: Part of the object, as an upload is used once, but a file may be several parts.
        version: Size and time of change of the file, from `version_of`.
    """

    def __init__(self, base_url: str, path: Path, part: str, version: tuple[int, int]) -> None:
        identity = json.dumps([base_url, part, str(path.resolve()), *version])
        self._file = _cache_folder() / hashlib.sha256(identity.encode()).hexdigest()[:32]

    def read(self) -> str | None:
        """Return the id; None if none is stored."""
        try:
            return self._file.read_text().strip() or None
        except OSError:
            return None

    def write(self, upload_id: str) -> None:
        """Store the id, and delete ids that are older than a week."""
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            for other in self._file.parent.iterdir():
                if other.stat().st_mtime < time.time() - _MAX_AGE_SECONDS:
                    other.unlink(missing_ok=True)
            temporary = self._file.with_name(f".{self._file.name}-{os.getpid()}")
            temporary.write_text(upload_id)
            temporary.replace(self._file)

    def delete(self) -> None:
        """Delete the id."""
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(home).expanduser() / "rankery" / "uploads"
    except RuntimeError:  # HOME is unset, and the user id is unknown, as in some containers
        return Path(os.devnull) / "uploads"  # cannot be written
