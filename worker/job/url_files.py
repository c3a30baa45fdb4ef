"""Read datasets from files at URLs, which are downloaded first."""

import contextlib
from types import TracebackType

from core.data.options import Limits, reading_options
from core.data.reading import JudgedFile, read_file
from core.data.result import Reading
from core.store import Dataset
from core.store.data_files import DataFiles
from core.types import OnProgress
from worker.job.digests import upload_digest
from worker.job.downloads import Downloads
from worker.job.folder_files import FolderFiles, options_json
from worker.job.run import JobRun


class UrlFiles:
    """Dataset source of files at URLs; see `DatasetSource`.

    Args:
        row: Dataset, whose source has the URLs.
        run: Job that reads the files.
        max_bytes: Bytes left of the key's quota, or None.
    """

    def __init__(self, row: Dataset, run: JobRun, max_bytes: int | None) -> None:
        self._row = row
        self._run = run
        self._options = reading_options(options_json(row.source))
        self._exits = contextlib.ExitStack()
        self._downloads = Downloads(row.id, row.source, run, max_bytes)
        self._folder_files: FolderFiles | None = None

    def __enter__(self) -> "UrlFiles":
        self._exits.enter_context(self._downloads)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exits.__exit__(kind, error, trace)

    def digest(self, on_progress: OnProgress) -> str:
        """Download all files, and return the digest of their checksums and of the options.

        Raises:
            DatasetError: A file does not exist, is too large, or takes too long.
            InvalidInput: A URL is not allowed, or the credentials are not for its host.
            AddressRefused: A host is in a blocked network.
            StoreUnavailable: A server does not answer.
        """
        downloads = self._downloads
        files = downloads.fetch(lambda tx, files: tx.datasets.record_download(self._row.id, files))
        if len(files) == 1:
            return upload_digest(files[0].sha256, None, self._options)
        locations = [(str(number), name) for number, name in enumerate(downloads.names)]
        folder = DataFiles([downloads.folder], patience_seconds=0.0)  # on this disk: no request is retried
        self._folder_files = FolderFiles(self._row, self._run, locations, folder)
        self._exits.enter_context(self._folder_files)
        return self._folder_files.digest(on_progress)

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Read the dataset.

        Raises:
            DatasetError: The files cannot be parsed, or are inconsistent.
        """
        if self._folder_files is not None:
            return self._folder_files.read(limits, threads, on_progress)
        file = JudgedFile(self._downloads.path(0), self._downloads.names[0])
        return read_file(file, self._options, limits, threads=threads, on_progress=on_progress)
