"""Read datasets from several files of a folder, on the disk or in a bucket."""

import contextlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from core.data.options import Limits, reading_options
from core.data.part_files.joining import join_parts
from core.data.part_files.part import Part, PartSpool
from core.data.reading import FileForm, JudgedFile, form_of_file
from core.data.result import Reading
from core.store import Dataset
from core.store.data_files import DataFiles
from core.types import OnProgress
from worker.dask.cluster import cluster_client
from worker.job.dask_reading import DaskReader
from worker.job.part_reading import LocalReader, PartReader, PartTask, files_digest
from worker.job.run import JobRun

_STEPS = 1_000  # progress steps of all files
_READING_STEPS = 900  # the other steps are for joining the files


class FolderFiles:
    """Dataset source of several files of a folder, read in place and joined; see `DatasetSource`.

    Args:
        row: Dataset, whose source lists the files in order.
        locations: Folder and name of each file if the source does not list them.
        files: Reader of files on this machine; None for the data roots of the settings.
    """

    def __init__(
        self,
        row: Dataset,
        run: JobRun,
        locations: Sequence[tuple[str, str]] = (),
        files: DataFiles | None = None,
    ) -> None:
        self._locations = locations or [(row.source["folder"], name) for name in row.source["filenames"]]
        self._files = files or DataFiles(run.settings.data_roots, run.settings.storage_patience_seconds)
        self._is_local = files is not None
        self._json = options_json(row.source)
        self._options = reading_options(self._json)
        self._run = run
        self._spool = PartSpool()
        self._parts: list[Part] = []

    def __enter__(self) -> "FolderFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parts.clear()
        self._spool.__exit__(kind, error, trace)

    def digest(self, on_progress: OnProgress) -> str:
        """Read all files, and return the digest of their checksums and of the options.

        Raises:
            DatasetError: A file is missing or cannot be read, or its columns differ from the first file's.
            StoreUnavailable: The storage of a bucket or the Dask cluster does not answer.
        """
        self._run.reporter.phase("reading")
        form = self._form()
        limits = self._run.settings.reading_limits
        tasks = [PartTask(folder, name, form, self._json, limits) for folder, name in self._locations]
        with self._reader() as reader:
            reader.read(tasks, self._spool.add, _Fractions(len(tasks), on_progress).report)
        self._parts = self._spool.parts()
        return files_digest([part.sha256 for part in self._parts], self._options)

    def read(self, limits: Limits, threads: int, on_progress: OnProgress) -> Reading:
        """Join the files into one dataset.

        Raises:
            DatasetError: The files are inconsistent, or too large together.
        """

        def report(done: int, total: int) -> None:
            on_progress(_READING_STEPS + (_STEPS - _READING_STEPS) * done // total, _STEPS)

        return join_parts(self._parts, self._options, limits, report)

    def _form(self) -> FileForm:
        """Return the format and the columns of the first file."""
        folder, name = self._locations[0]
        with self._files.opened(folder, name, self._check) as path:
            return form_of_file(JudgedFile(path, name), self._options, self._run.settings.reading_limits)

    def _check(self, done: int, total: int) -> None:
        self._run.lease.check()

    @contextlib.contextmanager
    def _reader(self) -> Iterator[PartReader]:
        if self._is_local or self._run.settings.dask_scheduler is None or len(self._locations) == 1:
            yield LocalReader(self._files, self._run.threads)
            return
        with cluster_client(self._run.settings) as client:
            yield DaskReader(client, self._run.lease.check)


class _Fractions:
    """Total progress of files that are read concurrently."""

    def __init__(self, n_files: int, on_progress: OnProgress) -> None:
        self._fractions = [0.0] * n_files
        self._on_progress = on_progress

    def report(self, index: int, fraction: float) -> None:
        """Update the read fraction of a file; ignore decreases, since there are several passes per file."""
        self._fractions[index] = max(self._fractions[index], fraction)
        mean = sum(self._fractions) / len(self._fractions)
        self._on_progress(int(_READING_STEPS * mean), _STEPS)


def options_json(source: dict[str, Any]) -> dict[str, Any]:
    """Return the reading options of a source as JSON."""
    return {**(source.get("options") or {}), "format": source.get("format") or "auto"}
