"""Interface of tables."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from core.data.tables.cells import Kind
from core.data.tables.problems import Problems
from core.errors import LineUnit
from core.types import OnProgress


class Table(Protocol):
    """A file of rows and named columns, read block by block.

    Attributes:
        file: Name of the file for messages.
        format: csv or parquet.
        header_line: Line number of the header, None where there is none.
        size_bytes: The size of the file, after unpacking gzip or Zstandard data.
    """

    file: str
    format: str
    names: tuple[str, ...]
    header_line: int | None
    n_rows: int
    size_bytes: int

    def kinds(self) -> Sequence[Kind]:
        """Return the kind of each column's cells."""
        ...

    def widths(self) -> Sequence[int]:
        """Return the number of features of each column: the length of its lists, 1 for other columns."""
        ...

    def blocks(
        self, positions: Sequence[int], problems: Problems, on_progress: OnProgress | None
    ) -> Iterator[Sequence[Any]]:
        """Yield the Arrow arrays of these columns, in runs of rows that fit in memory.

        Texts are UTF-8. Records that cannot be parsed are added to the problems and skipped.
        """
        ...

    def record(self, row: int) -> int:
        """Return the index of the record that a yielded row was read from; both are counted from 0."""
        ...

    def lines(self, records: Sequence[int]) -> list[int]:
        """Return the line number of each record; in Parquet, the row number. See `line_unit`."""
        ...


def line_unit(format: str) -> LineUnit:
    """Return the unit by which messages count the records of a file: rows of Parquet, else lines."""
    return "row" if format == "parquet" else "line"
