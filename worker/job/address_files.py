"""Datasets of files at addresses, which are downloaded before they are read."""

import contextlib
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from core.data.options import Limits, reading_options
from core.data.reading import JudgedFile, read_file
from core.data.result import Reading
from core.errors import (
    AddressRefused,
    DatasetError,
    ExtraMissing,
    InvalidInput,
    JobCancelled,
    StoreUnavailable,
)
from core.store import Dataset
from core.store.data_files import DataFiles
from core.store.sources.addresses import parse_address
from core.store.sources.download import Downloaded, DownloadLimits, download
from core.store.sources.files import RemoteFiles
from core.store.sources.remote_file import DownloadInterrupted, RemoteFile
from core.store.sources.scratch import PartialFile, scratch_folder
from worker.job.digests import upload_digest
from worker.job.folder_files import FolderFiles, Progress, options_json
from worker.job.limits import LimitReached
from worker.job.reporter import Reporter
from worker.job.run import JobRun

_LONGEST_NAME = 200
# After these errors the job is not retried, so that no attempt resumes the download.
_FINAL = (DatasetError, InvalidInput, AddressRefused, ExtraMissing, JobCancelled, LimitReached)


class AddressFiles:
    """Files at addresses; see `DatasetSource`.

    They are downloaded to the data folder of the worker. Partial downloads stay there while the job may be
    retried, so that the next attempt on this machine resumes them.

    Args:
        row: Dataset, whose source names the addresses.
        run: Job that reads them.
        max_bytes: Bytes left of the key's quota, or None.
    """

    def __init__(self, row: Dataset, run: JobRun, max_bytes: int | None) -> None:
        self._row = row
        self._run = run
        self._addresses = [parse_address(address) for address in row.source["addresses"]]
        self._options = reading_options(options_json(row.source))
        self._max_bytes = min(run.settings.source_bytes, max_bytes or run.settings.source_bytes)
        self._exits = contextlib.ExitStack()
        self._folder = Path()
        self._names: list[str] = []
        self._joined: FolderFiles | None = None

    def __enter__(self) -> "AddressFiles":
        downloads = self._run.settings.data_dir / "cache" / "downloads"
        self._folder = self._exits.enter_context(scratch_folder(downloads, self._row.id))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, _FINAL):
            shutil.rmtree(self._folder, ignore_errors=True)
        self._exits.__exit__(kind, error, trace)

    def digest(self, on_progress: Progress) -> str:
        """Download all files, and return the digest of their checksums and of the options.

        Raises:
            DatasetError: A file does not exist, is too large, or takes too long.
            InvalidInput: An address is not allowed, or the credentials are not for it.
            AddressRefused: A host is in a blocked network.
            StoreUnavailable: A server does not answer.
        """
        self._run.reporter.phase("downloading")
        files = self._downloaded()
        self._record(files)
        if len(files) == 1:
            return upload_digest(files[0][1].sha256, None, self._options)
        places = [(str(number), name) for number, name in enumerate(self._names)]
        self._joined = FolderFiles(self._row, self._run, places, DataFiles([self._folder], 0.0))
        self._exits.enter_context(self._joined)
        return self._joined.digest(on_progress)

    def read(self, limits: Limits, threads: int, on_progress: Progress) -> Reading:
        """Read the dataset.

        Raises:
            DatasetError: The files cannot be understood, or do not fit together.
        """
        if self._joined is not None:
            return self._joined.read(limits, threads, on_progress)
        file = JudgedFile(self._path(0), self._names[0])
        return read_file(file, self._options, limits, threads=threads, on_progress=on_progress)

    def _downloaded(self) -> list[tuple[RemoteFile, Downloaded]]:
        settings, source = self._run.settings, self._row.source
        limits = DownloadLimits(
            size_bytes=self._max_bytes,
            until=time.monotonic() + settings.source_seconds,
            seconds=settings.source_seconds,
            min_free_bytes=settings.min_free_bytes,
            patience_seconds=settings.storage_patience_seconds,
        )
        downloads: list[tuple[RemoteFile, Downloaded]] = []
        with RemoteFiles(settings.sources, settings.outbound_allowed, settings.source_credentials) as remote:
            try:
                files = remote.find(self._addresses, source.get("files"), source.get("credentials"))
            except DownloadInterrupted as error:
                raise StoreUnavailable(f"the files cannot be listed: {error}") from error
            self._names = [file.address.name[-_LONGEST_NAME:] for file in files]
            for number, file in enumerate(files):
                self._path(number).parent.mkdir(exist_ok=True)
                target = PartialFile(self._path(number))
                taken_bytes = sum(downloaded.size_bytes for _, downloaded in downloads)
                progress = _DownloadProgress(self._run.reporter, number, len(files), taken_bytes)
                downloads.append((file, download(file, target, limits.without(taken_bytes), progress.report)))
        return downloads

    def _path(self, number: int) -> Path:
        return self._folder / str(number) / self._names[number]

    def _record(self, files: list[tuple[RemoteFile, Downloaded]]) -> None:
        """Record versions and checksums of the downloaded files in the dataset.

        Raises:
            LeaseLost: The job was given to another worker.
        """
        read: list[dict[str, Any]] = [
            {
                "address": str(file.address),
                **downloaded.version.to_json(),
                "size_bytes": downloaded.size_bytes,
                "sha256": downloaded.sha256,
            }
            for file, downloaded in files
        ]
        with self._run.store.begin() as tx:
            self._run.lease.renew_within(tx)
            tx.datasets.record_download(self._row.id, read)


class _DownloadProgress:
    """Report the bytes of all files as the progress of the job."""

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
        fresh = done_bytes - self._first_bytes
        elapsed_seconds = time.monotonic() - self._started_at
        left_seconds = None
        if total_bytes is not None and is_last and fresh > 0:
            left_seconds = round(elapsed_seconds * (total_bytes - done_bytes) / fresh, 1)
        self._reporter.report(
            progress={
                "phase": "downloading",
                "iteration": self._before_bytes + done_bytes,
                "total": total,
                "eta_seconds": left_seconds,
                **self._files,
            }
        )
