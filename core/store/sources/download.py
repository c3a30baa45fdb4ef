"""Downloads that resume after an interruption."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from core.errors import DatasetError, StoreFull, StoreUnavailable
from core.store.artifacts.checksums import file_sha256
from core.store.sources.remote_file import ByteStream, DownloadInterrupted, FileVersion, RemoteFile
from core.store.sources.scratch import PartialFile
from core.temporary_files import DISK_FULL

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
_POLL_SECONDS = 0.1
_SPACE_CHECK_BYTES = 64 * 2**20  # between two checks of the free space

OnBytes = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Downloaded:
    """The result of a download."""

    version: FileVersion
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class DownloadLimits:
    """The limits of the files of one dataset together.

    Attributes:
        deadline: Time of the monotonic clock at which the downloads must have ended.
        seconds: The duration of the time limit, for messages.
        min_free_bytes: Bytes that must stay free on the disk.
        patience_seconds: How long a failing server is retried after its last new byte.
    """

    size_bytes: int
    deadline: float
    seconds: float
    min_free_bytes: int
    patience_seconds: float

    def without(self, used_bytes: int) -> "DownloadLimits":
        """Return the limits of the remaining files, after others have used some bytes."""
        return replace(self, size_bytes=self.size_bytes - used_bytes)

    def check_size(self, size_bytes: int, file: str) -> None:
        """Refuse a file that exceeds the size limit.

        Raises:
            DatasetError: The file is too large.
        """
        if size_bytes > self.size_bytes:
            raise DatasetError.at(
                f"expected at most {self.size_bytes:,} bytes, by RANKERY_SOURCE_BYTES or the key's quota,"
                f" but found at least {size_bytes:,}",
                file=file,
            )

    def check_time(self, file: str) -> None:
        """Refuse to continue after the deadline.

        Raises:
            DatasetError: The deadline has passed.
        """
        if time.monotonic() > self.deadline:
            raise DatasetError.at(
                f"expected a download within {self.seconds:,.0f} seconds (RANKERY_SOURCE_SECONDS), but it"
                " takes longer",
                file=file,
            )


def download(file: RemoteFile, target: PartialFile, limits: DownloadLimits, on_bytes: OnBytes) -> Downloaded:
    """Download a file, resuming after the bytes of the same version that the target has.

    Args:
        target: Its copy on this machine.
        on_bytes: Called with the bytes so far and the total, None if unknown; may raise to stop. Also
            called several times a second during the pauses between attempts.

    Raises:
        DatasetError: There is no such file, or it is too large or too slow.
        StoreUnavailable: The server failed for longer than `patience_seconds`, or the disk failed.
        StoreFull: The disk is full.
        RankeryError: See `RemoteFile.read`.
    """
    return _Download(file, target, limits, on_bytes).run()


def _differs(version: FileVersion, earlier: FileVersion) -> bool:
    return any(
        None not in (now, before) and now != before
        for now, before in ((version.etag, earlier.etag), (version.size_bytes, earlier.size_bytes))
    )


class _Download:
    def __init__(
        self, file: RemoteFile, target: PartialFile, limits: DownloadLimits, on_bytes: OnBytes
    ) -> None:
        self._file = file
        self._name = file.url.name
        self._target = target
        self._limits = limits
        self._on_bytes = on_bytes
        self._version = self._recorded_version()
        self._furthest = self._target.size_bytes  # after a restart, the bytes up to here are no progress
        self._progressed_at = time.monotonic()

    def run(self) -> Downloaded:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            before = self._target.size_bytes
            try:
                return self._attempt()
            except DownloadInterrupted as error:
                if self._target.size_bytes > before:
                    pause = _FIRST_PAUSE_SECONDS
                if time.monotonic() + pause > self._progressed_at + self._limits.patience_seconds:
                    raise StoreUnavailable(
                        f"the download of {self._name} was interrupted: {error}"
                    ) from error
            self._wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _attempt(self) -> Downloaded:
        stored_bytes = self._target.size_bytes if self._version and self._version.is_certain else 0
        if stored_bytes and self._version and self._version.size_bytes == stored_bytes:
            return self._result(self._version)  # the download was complete when the process was killed
        with self._file.read(stored_bytes, self._version) as stream:
            version = self._check_and_record(stream, stored_bytes)
            with self._target.path.open("r+b" if stream.start else "wb") as output:
                output.truncate(stream.start)
                output.seek(stream.start)
                self._copy(stream, output)
        # So that a later attempt finds the whole file, also where the server declares no size.
        version = replace(version, size_bytes=self._target.size_bytes)
        self._record(version)
        return self._result(version)

    def _check_and_record(self, stream: ByteStream, stored_bytes: int) -> FileVersion:
        """Check the size that the server declares, and record the version for a resumed download."""
        if stream.start not in (0, stored_bytes):
            raise AssertionError("a stream begins at the requested position, or at the start")
        if stream.version.size_bytes is not None:
            self._limits.check_size(stream.version.size_bytes, self._name)
            self._require_space(stream.version.size_bytes - stream.start)
        if stream.start and self._version is not None and _differs(stream.version, self._version):
            self._version = None  # the server ignores the condition
            raise DownloadInterrupted(f"{self._name} changed while it was read")
        if stream.start == 0:
            self._target.path.unlink(missing_ok=True)  # else its bytes would count for the new version
        self._record(stream.version)
        return stream.version

    def _record(self, version: FileVersion) -> None:
        self._version = version
        with self._reporting_disk_errors():
            self._target.record_version({"address": str(self._file.url), **version.to_json()})

    def _copy(self, stream: ByteStream, output: BinaryIO) -> None:
        done, total, checked_at = stream.start, stream.version.size_bytes, stream.start
        for block in stream.blocks:
            done += len(block)
            self._limits.check_size(done, self._name)
            self._limits.check_time(self._name)
            if done - checked_at > _SPACE_CHECK_BYTES:
                self._require_space(0)
                checked_at = done
            with self._reporting_disk_errors():
                output.write(block)
                output.flush()  # so that another process can resume if this process is killed
            if done > self._furthest:
                self._furthest, self._progressed_at = done, time.monotonic()
            self._on_bytes(done, total)
        if total is not None and done != total:
            raise DownloadInterrupted(f"the connection was closed after {done:,} of {total:,} bytes")

    @contextmanager
    def _reporting_disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise StoreUnavailable(f"the disk of downloads cannot write {self._name}: {error}") from error
            raise StoreFull(f"the disk of downloads has no space left for {self._name}: {error}") from error

    def _require_space(self, new_bytes: int) -> None:
        free_bytes = self._target.free_bytes()
        if free_bytes - new_bytes < self._limits.min_free_bytes:
            problem = f"{free_bytes:,} bytes left, of which {self._limits.min_free_bytes:,} must stay free"
            raise StoreFull(f"the disk of downloads has {problem}")

    def _result(self, version: FileVersion) -> Downloaded:
        with self._target.path.open("rb") as content:
            return Downloaded(version, self._target.size_bytes, file_sha256(content))

    def _recorded_version(self) -> FileVersion | None:
        recorded = self._target.recorded_version()
        if recorded is None or recorded.pop("address", None) != str(self._file.url):
            return None
        fields: dict[str, Any] = {"size_bytes": None, **recorded}
        try:
            return FileVersion(**fields)
        except TypeError:  # written by another version of the service
            return None

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        size = None if self._version is None else self._version.size_bytes
        while time.monotonic() < until:
            self._on_bytes(self._target.size_bytes, size)
            self._limits.check_time(self._name)
            time.sleep(_POLL_SECONDS)
