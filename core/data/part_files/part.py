"""Parsed file of a dataset that consists of several files, and its storage on the disk."""

import mmap
import tempfile
from dataclasses import dataclass, replace
from types import TracebackType

import numpy as np
import numpy.typing as npt

from core.data.compression import Bytes
from core.data.dataset import RankingDataset
from core.data.options import Limits, ReadingOptions
from core.data.parquet import write_parquet
from core.data.reading import FileForm, JudgedFile, read_file
from core.temporary_files import reporting_full_disk
from core.types import Int64Array, OnProgress


@dataclass(frozen=True, eq=False)
class Part:
    """The judged documents of one file, sorted by query, and the original positions of its queries.

    A part holds plain values and arrays only, as a Dask worker sends it to the process that joins the parts.

    Attributes:
        size_bytes: Size of the file, after unpacking.
        sha256: Checksum of the file's bytes.
        first_id: The id of the first feature of LETOR text, 0 or 1; 1 for tables.
        query_ids: Ids in the order of first appearance.
        query_boundaries: int64 (n_queries + 1,).
        run_queries: int64 (n_runs,) position of the query of each run of rows of the file.
        run_starts: int64 (n_runs,) first row of each run.
        named: bool (n_documents,) whether the file gives an id to the document; None for tables without a
            document column.
        several_spellings: The ids of queries that the file spells in several ways.
        rows: uint8, the part as a Parquet file, as `write_parquet` writes it.
    """

    file: str
    format: str
    size_bytes: int
    sha256: str
    first_id: int
    n_features: int
    query_ids: tuple[str, ...]
    query_boundaries: Int64Array
    run_queries: Int64Array
    run_starts: Int64Array
    named: npt.NDArray[np.bool_] | None
    several_spellings: tuple[str, ...]
    rows: Bytes

    @property
    def last_id(self) -> int:
        """Id of the last feature."""
        return self.first_id + self.n_features - 1

    @property
    def n_documents(self) -> int:
        """Number of documents, which are the rows of the file."""
        return int(self.query_boundaries[-1])

    @property
    def has_scattered_queries(self) -> bool:
        """Return whether the rows of a query are not contiguous within the file."""
        return bool(np.any(np.diff(self.run_queries) < 0))


def read_part(
    file: JudgedFile,
    sha256: str,
    form: FileForm,
    options: ReadingOptions,
    limits: Limits,
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
) -> Part:
    """Read one of the files of a dataset.

    Args:
        sha256: Checksum of its bytes.
        form: Format and columns of the first file.
        on_progress: Called with the number of bytes done and their total; may raise to stop.

    Raises:
        DatasetError: The columns differ from the first file's. For other errors, see `read_file`.
        InvalidInput: See `read_file`.
    """
    # A file of LETOR text may lack the last features, so names are assigned in the joined dataset.
    if form.format == "letor":
        options = replace(options, feature_names={})
    reading = read_file(file, options, limits, threads=threads, on_progress=on_progress, form=form)
    dataset, grouping = reading.dataset, reading.grouping
    if grouping is None:
        raise AssertionError(f"{reading.format} has no query in its rows")
    return Part(
        file=file.name,
        format=reading.format,
        size_bytes=reading.size_bytes,
        sha256=sha256,
        first_id=0 if form.format == "letor" and dataset.feature_names[0] == "f0" else 1,
        n_features=dataset.n_features,
        query_ids=dataset.query_ids,
        query_boundaries=dataset.query_boundaries,
        run_queries=grouping.run_queries,
        run_starts=grouping.run_starts,
        named=reading.named,
        several_spellings=reading.several_spellings,
        rows=_parquet(dataset),
    )


def _parquet(dataset: RankingDataset) -> Bytes:
    """Write a dataset to an unlinked temporary file, and memory-map the file."""
    with reporting_full_disk("the rows of a file"), tempfile.TemporaryFile() as file:
        write_parquet(dataset, file)
        file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


class PartSpool:
    """Parts whose rows are in one unlinked file in the folder of temporary files (`TMPDIR`).

    Parts may be added in any order. Usable as a context manager.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the spool
        self._parts: dict[int, tuple[Part, slice]] = {}
        self._written = 0

    def __enter__(self) -> "PartSpool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, position: int, part: Part) -> None:
        """Store a part.

        Args:
            position: Position of the part among all parts, from 0.
            part: Part to store; its rows are written to the disk and released.

        Raises:
            StoreFull: The disk has no room for the rows.
        """
        with reporting_full_disk("the rows of all files"):
            self._file.write(part.rows.data)
            self._file.flush()
        byte_range = slice(self._written, self._written + part.rows.size)
        self._parts[position] = replace(part, rows=np.empty(0, np.uint8)), byte_range
        self._written = byte_range.stop

    def parts(self) -> list[Part]:
        """Return all parts in order, with memory-mapped rows."""
        content = np.frombuffer(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        return [
            replace(part, rows=content[byte_range])
            for part, byte_range in (self._parts[position] for position in sorted(self._parts))
        ]
