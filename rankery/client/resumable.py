"""Resumable uploads: sizes, timeouts, and uploads of earlier processes."""

import base64
import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import httpx

from rankery.client.uploads import sent_name
from rankery.errors import RankeryApiError

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


class StoredUploadId:
    """The id of an unfinished upload of a file, stored in the user's cache folder.

    The file is identified by its part of the object, path, size and time of change. If the folder cannot be
    written, only the process that began an upload can resume it.

    Args:
        base_url: The service.
        path: The file.
        part: Part of the object, as an upload is used once, but a file may be several parts.
    """

    def __init__(self, base_url: str, path: Path, part: str) -> None:
        status = path.stat()
        identity = json.dumps([base_url, part, str(path.resolve()), status.st_size, status.st_mtime_ns])
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
