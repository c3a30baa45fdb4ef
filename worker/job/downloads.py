"""Download files from URLs to the data folder of the worker."""

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from core.errors import (
    AddressRefused,
    DatasetError,
    ExtraMissing,
    InvalidInput,
    JobCancelled,
    StoreUnavailable,
)
from core.store import Transaction
from core.store.sources.download import Downloaded, DownloadLimits, download
from core.store.sources.files import RemoteFiles
from core.store.sources.remote_file import DownloadInterrupted, RemoteFile
from core.store.sources.scratch import PartialFile, scratch_folder
from core.store.sources.source_urls import parse_source_url
from worker.job.limits import LimitReached
from worker.job.reporter import Reporter
from worker.job.run import JobRun

_MAX_NAME_BYTES = 200  # file systems allow 255 bytes, also for the record of a file, `.NAME.json`
# After these errors the job is not retried, so that no attempt resumes the download.
_FINAL = (DatasetError, InvalidInput, AddressRefused, ExtraMissing, JobCancelled, LimitReached)

Record = Callable[[Transaction, Sequence[dict[str, Any]]], object]


class Downloads:
    """Downloads of the files at the URLs of a source.

    Partial downloads stay in the data folder while the job may be retried, so that the next attempt on this
    machine resumes them.

    Args:
        owner_id: Id of the dataset or click log, which names the folder.
        max_bytes: Bytes left of the key's quota, or None.
    """

    def __init__(self, owner_id: str, source: Mapping[str, Any], run: JobRun, max_bytes: int | None) -> None:
        self._owner_id = owner_id
        self._source = source
        self._run = run
        self._urls = [parse_source_url(url) for url in source["addresses"]]
        self._max_bytes = min(run.settings.source_bytes, max_bytes or run.settings.source_bytes)
        self._exits = contextlib.ExitStack()
        self.folder = Path()
        self.names: list[str] = []

    def __enter__(self) -> "Downloads":
        downloads = self._run.settings.data_dir / "cache" / "downloads"
        self.folder = self._exits.enter_context(scratch_folder(downloads, self._owner_id))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, _FINAL):
            shutil.rmtree(self.folder, ignore_errors=True)
        self._exits.__exit__(kind, error, trace)

    def path(self, number: int) -> Path:
        """Return the path of a file, by its index in `names`."""
        return self.folder / str(number) / self.names[number]

    def fetch(self, record: Record) -> list[Downloaded]:
        """Download all files, and record their versions and checksums.

        Args:
            record: Records each file's `address`, `size_bytes`, `sha256` and version.

        Raises:
            DatasetError: A file does not exist, is too large, or takes too long.
            InvalidInput: A URL is not allowed, or the credentials are not for its host.
            AddressRefused: A host is in a blocked network.
            StoreUnavailable: A server does not answer.
            LeaseLost: The job was given to another worker.
        """
        self._run.reporter.phase("downloading")
        files = self._download_all()
        descriptions = [_description_of(file, downloaded) for file, downloaded in files]
        with self._run.store.begin() as tx:
            self._run.lease.renew_within(tx)
            record(tx, descriptions)
        return [downloaded for _, downloaded in files]

    def _download_all(self) -> list[tuple[RemoteFile, Downloaded]]:
        settings, source = self._run.settings, self._source
        limits = DownloadLimits(
            size_bytes=self._max_bytes,
            deadline=time.monotonic() + settings.source_seconds,
            seconds=settings.source_seconds,
            min_free_bytes=settings.min_free_bytes,
            patience_seconds=settings.storage_patience_seconds,
        )
        downloads: list[tuple[RemoteFile, Downloaded]] = []
        with RemoteFiles(settings.sources, settings.outbound_allowed, settings.source_credentials) as remote:
            try:
                files = remote.find(self._urls, source.get("files"), source.get("credentials"))
            except DownloadInterrupted as error:
                raise StoreUnavailable(f"the files cannot be listed: {error}") from error
            self.names = [_file_name(file.url.name) for file in files]
            for number, file in enumerate(files):
                self.path(number).parent.mkdir(exist_ok=True)
                target = PartialFile(self.path(number))
                taken_bytes = sum(downloaded.size_bytes for _, downloaded in downloads)
                progress = _DownloadProgress(self._run.reporter, number, len(files), taken_bytes)
                downloads.append((file, download(file, target, limits.without(taken_bytes), progress.report)))
        return downloads


def _file_name(name: str) -> str:
    """Return a name, or its end if it is too long for a file."""
    return name.encode()[-_MAX_NAME_BYTES:].decode(errors="ignore")


def _description_of(file: RemoteFile, downloaded: Downloaded) -> dict[str, Any]:
    return {
        "address": str(file.url),
        **downloaded.version.to_json(),
        "size_bytes": downloaded.size_bytes,
        "sha256": downloaded.sha256,
    }


class _DownloadProgress:
    """Downloaded bytes of all files, reported as the progress of the job."""

    def __init__(self, reporter: Reporter, number: int, n_files: int, before_bytes: int) -> None:
        self._reporter = reporter
        self._files = {} if n_files == 1 else {"file": number + 1, "files": n_files}
        self._before_bytes = before_bytes
        self._started_at = time.monotonic()
        self._first_bytes: int | None = None

    def report(self, done_bytes: int, total_bytes: int | None) -> None:
        """Report the downloaded bytes of the file, and its size."""
        is_last = not self._files or self._files["file"] == self._files["files"]
        total = self._before_bytes + total_bytes if is_last and total_bytes is not None else None
        if self._first_bytes is None:
            self._first_bytes = done_bytes  # downloaded by an earlier attempt
        new_bytes = done_bytes - self._first_bytes
        elapsed_seconds = time.monotonic() - self._started_at
        remaining_seconds = None
        if total_bytes is not None and is_last and new_bytes > 0:
            remaining_seconds = round(elapsed_seconds * (total_bytes - done_bytes) / new_bytes, 1)
        self._reporter.report(
            progress={
                "phase": "downloading",
                "iteration": self._before_bytes + done_bytes,
                "total": total,
                "eta_seconds": remaining_seconds,
                **self._files,
            }
        )
