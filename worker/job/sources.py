"""Sources of datasets: uploads, files on the disk or at URLs, and synthetic data."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Protocol

from core.data import RankingDataset, sparse_dataset, synthetic_dataset
from core.data.folders import DataRoots, OpenFile
from core.data.options import Limits, reading_options
from core.data.reading import JudgedFile, read_file
from core.data.result import Reading
from core.errors import DatasetError
from core.store import Dataset
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.checksums import file_sha256
from core.store.artifacts.keys import dataset_upload_key, query_sizes_key
from core.store.data_files import DataFiles
from core.types import OnProgress
from worker.job.downloads import Downloads
from worker.job.folder_files import FolderFiles, options_json
from worker.job.part_reading import synthetic_digest, upload_digest
from worker.job.run import JobRun


class UrlFiles:
    """Dataset source of files at URLs; see `DatasetSource`.

    Args:
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


class DatasetSource(Protocol):
    """A source from which a dataset is read."""

    def digest(self, on_progress: OnProgress) -> str:
        """Return the digest that determines the content.

        Args:
            on_progress: See `read`; several files are read to compute their digest.
        """
        ...

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Read or generate the dataset.

        Args:
            on_progress: Called with the bytes read and the total; may raise to stop.

        Raises:
            DatasetError: The file cannot be read; the error has line and column.
        """
        ...


@contextlib.contextmanager
def opened_source(row: Dataset, run: JobRun, max_bytes: int | None) -> Iterator[DatasetSource]:
    """Open the source of a stored dataset.

    Args:
        max_bytes: Limit of the download, or None.
    """
    match row.source["kind"]:
        case "synthetic":
            yield Synthetic(row.source)
        case "address":
            with UrlFiles(row, run, max_bytes) as files:
                yield files
        case "folder" if "files" in row.source:
            with FolderFiles(row, run) as folder:
                yield folder
        case "folder":
            yield FolderFile(row, DataRoots(run.settings.data_roots))
        case _:
            yield Upload(row, run.store.artifacts)


_GENERATORS: Mapping[str, Callable[..., RankingDataset]] = MappingProxyType(
    {"polynomial": synthetic_dataset, "sparse": sparse_dataset}
)
# Keyed by the names in a stored source, which equal the API's.
_ARGUMENTS = MappingProxyType(
    {
        "queries": "n_queries",
        "seed": "seed",
        "polynomial_seed": "polynomial_seed",
        "documents_per_query": "documents_per_query",
        "features": "n_features",
        "noise": "noise",
        "gains": "gains",
        "relevant_per_query": "relevant_per_query",
    }
)


class Synthetic:
    """Dataset source of synthetic data."""

    def __init__(self, source: dict[str, Any]) -> None:
        self._source = source

    def digest(self, on_progress: OnProgress) -> str:
        """Return the digest that determines the content."""
        return synthetic_digest(self._source)

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Generate the dataset."""
        generate = _GENERATORS[self._source.get("generator", "polynomial")]
        arguments = {
            argument: self._source[name] for name, argument in _ARGUMENTS.items() if name in self._source
        }
        return Reading(generate(**arguments), "synthetic")


class Upload:
    """Dataset source of an uploaded file, with an optional file of query sizes."""

    def __init__(self, row: Dataset, artifacts: Artifacts) -> None:
        self._key = dataset_upload_key(row.id)
        self._name: str = row.source.get("filename") or "the file"
        self._sizes_key = query_sizes_key(row.id)
        self._sizes_name: str | None = row.source.get("query_sizes_filename")
        self._sha256 = row.sha256
        self._options = reading_options(options_json(row.source))
        self._artifacts = artifacts

    def digest(self, on_progress: OnProgress) -> str:
        """Return the digest that determines the content."""
        sizes_sha256 = None if self._sizes_name is None else self._checksum(self._sizes_key)
        return upload_digest(self._sha256 or self._checksum(self._key), sizes_sha256, self._options)

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Read the dataset."""
        with contextlib.ExitStack() as stack:
            path = stack.enter_context(self._artifacts.local(self._key))
            sizes = None
            if self._sizes_name is not None:
                sizes = stack.enter_context(self._artifacts.local(self._sizes_key))
            file = JudgedFile(path, self._name, sizes, self._sizes_name)
            return read_file(file, self._options, limits, threads=threads, on_progress=on_progress)

    def _checksum(self, key: str) -> str:
        with self._artifacts.open(key) as file:
            return file_sha256(file)


class FolderFile:
    """Dataset source of a file below a data root, read in place.

    The checksum is computed first, so that the dataset shares its content with an upload of the same bytes.
    """

    def __init__(self, row: Dataset, data_roots: DataRoots) -> None:
        self._folder: str = row.source["folder"]
        self._name: str = row.source["filename"]
        self._options = reading_options(options_json(row.source))
        self._roots = data_roots
        self._version: tuple[int, ...] | None = None

    def digest(self, on_progress: OnProgress) -> str:
        """Return the digest that determines the content.

        Raises:
            DatasetError: The file is missing, not readable, or changes.
        """
        with self._open_unchanged() as file, file.path.open("rb") as content:
            return upload_digest(file_sha256(content), None, self._options)

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Read the dataset.

        Raises:
            DatasetError: The file cannot be read, or has changed since its checksum was computed.
        """
        with self._open_unchanged() as file:
            judged = JudgedFile(file.path, self._name)
            return read_file(judged, self._options, limits, threads=threads, on_progress=on_progress)

    @contextlib.contextmanager
    def _open_unchanged(self) -> Iterator[OpenFile]:
        """Open the file; check before and after the block that it is unchanged since it was first opened."""
        with self._roots.opened(self._folder, self._name) as file:
            self._version = self._version or file.version
            self._check(file.version)
            try:
                yield file
            finally:
                self._check(self._roots.version(file))

    def _check(self, version: tuple[int, ...]) -> None:
        if version != self._version:
            raise DatasetError.changed(self._name)
