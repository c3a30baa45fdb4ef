"""The files of a dataset of several, read one after the other in this process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.data.options import Limits, reading_options
from core.data.part_files.part import Part, read_part
from core.data.reading import FileForm, JudgedFile
from core.store.artifacts.checksums import file_sha256
from core.store.data_files import DataFiles

TakePart = Callable[[int, Part], None]
OnFraction = Callable[[int, float], None]


@dataclass(frozen=True)
class PartTask:
    """One file to read. Holds plain values, since it is sent to Dask workers.

    Attributes:
        folder: Where the file is, as `DataFiles` finds it.
        name: Of the file.
        form: Format and columns of the first file.
        options: How to read all files, as JSON.
        limits: How large each may become.
    """

    folder: str
    name: str
    form: FileForm
    options: dict[str, Any]
    limits: Limits

    def read(self, files: DataFiles, threads: int, on_progress: Callable[[int, int], None]) -> Part:
        """Read the file.

        Args:
            files: The files that this process may read.
            threads: Threads to use.
            on_progress: Told the bytes done and to do, of each pass over the file; may raise to stop.

        Raises:
            DatasetError: It is gone, changes meanwhile, cannot be understood, or has other columns.
            InvalidInput: The options do not fit it.
            StoreUnavailable: The storage of its bucket does not answer.
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
    """What reads the files of a dataset."""

    def read(self, tasks: Sequence[PartTask], take: TakePart, on_fraction: OnFraction) -> None:
        """Read all files.

        Args:
            tasks: The files.
            take: Given the number of each file, from 0, and what was read, in any order.
            on_fraction: Told the number of a file and how much of it is done, from 0 to 1; may raise to stop.

        Raises:
            DatasetError: A file cannot be read; see `PartTask.read`.
            InvalidInput: The options do not fit a file.
            StoreUnavailable: A storage or the Dask cluster does not answer.
        """
        ...


class LocalReader:
    """Reads files one after the other.

    Args:
        files: The files that this process may read.
        threads: Threads to use.
    """

    def __init__(self, files: DataFiles, threads: int) -> None:
        self._files = files
        self._threads = threads

    def read(self, tasks: Sequence[PartTask], take: TakePart, on_fraction: OnFraction) -> None:
        """Read all files in their order."""
        for place, task in enumerate(tasks):

            def report(done: int, total: int, place: int = place) -> None:
                on_fraction(place, done / total)

            take(place, task.read(self._files, self._threads, report))
            on_fraction(place, 1.0)
