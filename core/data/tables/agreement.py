"""Check that the tables of a dataset with several files all have the columns of the first file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.data.tables.cells import Kind
from core.data.tables.problems import Problems, listed
from core.data.tables.table import Table
from core.errors import DatasetError
from core.types import OnProgress

_KIND_NAMES = {
    "number": "numbers",
    "text": "text",
    "list": "lists of numbers",
    "category": "numbers",
    "other": "values of another type",
}


@dataclass(frozen=True)
class TableColumns:
    """The columns of the first file."""

    file: str
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, table: Table) -> "TableColumns":
        """Return the columns of a table.

        Raises:
            DatasetError: Cells cannot be read.
        """
        return cls(table.file, table.names, tuple(table.kinds()), tuple(table.widths()))


class AgreeingTable:
    """A table that is read with the column kinds of the first file; see `Table`.

    Delimited text has no types, so that kinds detected in later files might differ.

    Raises:
        DatasetError: The columns differ from those of the first file.
    """

    def __init__(self, table: Table, first: TableColumns) -> None:
        _check_names(table, first)
        if table.format == "parquet":
            _check_kinds(table, first)
        self._table = table
        self._first = first
        self.file = table.file
        self.format = table.format
        self.names = table.names
        self.header_line = table.header_line
        self.n_rows = table.n_rows
        self.size_bytes = table.size_bytes

    def kinds(self) -> Sequence[Kind]:
        """Return the kinds of the first file."""
        return self._first.kinds

    def widths(self) -> Sequence[int]:
        """Return the widths of the first file."""
        return self._first.widths

    def blocks(
        self, positions: Sequence[int], problems: Problems, on_progress: OnProgress | None
    ) -> Iterator[Sequence[Any]]:
        """Yield the arrays of these columns."""
        return self._table.blocks(positions, problems, on_progress)

    def record(self, row: int) -> int:
        """Return the index of the record that a yielded row was read from."""
        return self._table.record(row)

    def lines(self, records: Sequence[int]) -> list[int]:
        """Return the line number of each record."""
        return self._table.lines(records)


def _check_names(table: Table, first: TableColumns) -> None:
    if table.names == first.names:
        return
    names, first_names = set(table.names), set(first.names)
    lacking = [name for name in first.names if name not in names]
    additional = [name for name in table.names if name not in first_names]
    differences = [
        *([f"it lacks {listed(lacking)}"] if lacking else []),
        *([f"it also has {listed(additional)}"] if additional else []),
    ]
    if not differences:
        at = next(at for at, name in enumerate(first.names) if table.names[at] != name)
        differences = [f"column {at + 1} is {table.names[at]!r} instead of {first.names[at]!r}"]
    raise DatasetError.at(
        f"expected the {len(first.names):,} columns of {first.file}, but {' and '.join(differences)}",
        file=table.file,
        line=table.header_line,
        column=next(iter((*lacking, *additional)), None),
    )


def _check_kinds(table: Table, first: TableColumns) -> None:
    kinds = zip(table.names, table.kinds(), table.widths(), first.kinds, strict=True)
    for name, kind, width, expected in kinds:
        # A list column may have no list in this file; its detected kind is then not compared.
        if _KIND_NAMES[kind] != _KIND_NAMES[expected] and not (expected == "list" and width == 0):
            raise DatasetError.at(
                f"expected {_KIND_NAMES[expected]} as in {first.file}, but the column holds"
                f" {_KIND_NAMES[kind]}",
                file=table.file,
                column=name,
            )
