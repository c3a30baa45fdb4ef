"""Read the files of a dataset one after another in this process.

Digests determine the content of a dataset before it is read.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from core.data.options import TEXT_ROLES, Limits, ReadingOptions, reading_options
from core.data.part_files.part import Part, read_part
from core.data.reading import FileForm, JudgedFile
from core.store.artifacts.checksums import file_sha256
from core.store.data_files import DataFiles
from core.types import OnProgress

# Incremented whenever the same bytes give other arrays, statistics or findings, to read datasets again.
READING_VERSION = 2


def upload_digest(sha256: str, query_sizes_sha256: str | None, options: ReadingOptions) -> str:
    """Return the digest of an uploaded file and its reading options."""
    columns = asdict(options.columns)
    for name in ("categorical_features", "document_columns", *TEXT_ROLES):
        if not columns[name]:
            del columns[name]  # digests from before these options stay valid
    decisive = {
        **{
            name: getattr(options, name) for name in ("format", "non_contiguous_queries", "repeated_features")
        },
        "columns": columns,
        "feature_names": dict(options.feature_names),
    }
    return _digest({"upload": sha256, "query_sizes": query_sizes_sha256, "options": decisive})


def files_digest(sha256s: Sequence[str], options: ReadingOptions) -> str:
    """Return the digest of a dataset of several files, which differs from that of one concatenated file.

    The digest of a single file is that of an upload of the same bytes.

    Args:
        sha256s: Checksums of the files, in the order of their rows; their names do not matter.
    """
    if len(sha256s) == 1:
        return upload_digest(sha256s[0], None, options)
    together = hashlib.sha256("".join(sha256s).encode()).hexdigest()
    return _digest({"files": upload_digest(together, None, options)})


def synthetic_digest(source: dict[str, Any]) -> str:
    """Return the digest of a synthetic dataset's parameters."""
    return _digest({"synthetic": source})


def _digest(decisive: dict[str, Any]) -> str:
    text = json.dumps({"version": READING_VERSION, **decisive}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


TakePart = Callable[[int, Part], None]
OnFraction = Callable[[int, float], None]


@dataclass(frozen=True)
class PartTask:
    """One file to read; its fields are plain values, since it is sent to Dask workers.

    Attributes:
        folder: Folder of the file, as a name that `DataFiles` resolves.
        form: Format and columns of the first file.
        options: Reading options of all files, as JSON.
    """

    folder: str
    name: str
    form: FileForm
    options: dict[str, Any]
    limits: Limits

    def read(self, files: DataFiles, threads: int, on_progress: OnProgress) -> Part:
        """Read the file.

        Args:
            files: The files that this process may read.
            on_progress: Called with the bytes read and the total, in each pass; may raise to stop.

        Raises:
            DatasetError: The file is missing, changes while read, cannot be parsed, or has other columns.
            InvalidInput: The options are invalid for the file.
            StoreUnavailable: The storage of the file's bucket does not answer.
        """
        with files.opened(self.folder, self.name, on_progress) as path:
            with path.open("rb") as content:
                sha256 = file_sha256(content)
            return read_part(
                JudgedFile(path, self.name),
                sha256,
                self.form,
                reading_options(self.options),
                self.limits,
                threads=threads,
                on_progress=on_progress,
            )


class PartReader(Protocol):
    """Reader of the files of a dataset."""

    def read(self, tasks: Sequence[PartTask], take: TakePart, on_fraction: OnFraction) -> None:
        """Read all files.

        Args:
            take: Called with the index of each file and its content, in any order.
            on_fraction: Called with the index of a file and its fraction, from 0 to 1; may raise to stop.

        Raises:
            DatasetError: A file cannot be read; see `PartTask.read`.
            InvalidInput: The options are invalid for a file.
            StoreUnavailable: A storage or the Dask cluster does not answer.
        """
        ...


class LocalReader:
    """Reader of files one after another in this process.

    Args:
        files: The files that this process may read.
    """

    def __init__(self, files: DataFiles, threads: int) -> None:
        self._files = files
        self._threads = threads

    def read(self, tasks: Sequence[PartTask], take: TakePart, on_fraction: OnFraction) -> None:
        """Read all files in order."""
        for index, task in enumerate(tasks):

            def report(done: int, total: int, index: int = index) -> None:
                on_fraction(index, done / total)

            take(index, task.read(self._files, self._threads, report))
            on_fraction(index, 1.0)
