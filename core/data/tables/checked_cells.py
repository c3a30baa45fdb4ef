"""Cells of a table as numbers, texts and identifiers; wrong cells become problems of the file."""

from typing import Any

import numpy as np
import pyarrow as pa

from core.data.number_kernel import INFINITE_FLOAT32
from core.data.tables.cells import are_decimal_commas, cell_text, kind_of, numbers, plain_texts, read_lists
from core.data.tables.columns import SelectedColumns
from core.data.tables.problems import Problems
from core.data.tables.table import Table, line_unit
from core.errors import MAX_PROBLEMS, DatasetError
from core.names import shortened
from core.types import Float64Array, Int64Array
from rankery.identifiers import EXPECTED, NormalisedIds, normalise_column

# Per column and block; one cell more than is shown reveals that there are more.
_MAX_REPORTED_CELLS = MAX_PROBLEMS + 1


class CheckedCells:
    """Reads blocks of columns and records wrong cells.

    The methods get a block of a column, the column's position, and the index of the block's first row.
    """

    def __init__(self, table: Table, columns: SelectedColumns) -> None:
        self.problems = Problems()
        self._table = table
        self._by_role = columns.roles.by_role
        for position in columns.positions:
            if position not in (self._by_role.get("label"), self._by_role.get("query")):
                self.problems.mark_ignorable(table.names[position])

    def labels(self, column: Any, position: int, first: int) -> Float64Array:
        """Read labels, which must be missing or within the range of float32."""
        labels = self.float32(column, position, first, "a label, a number such as 2")
        infinite = np.flatnonzero(np.isinf(labels))
        self.report("infinite_label", column, position, first, infinite, "a finite label")
        return labels

    def weights(self, column: Any, position: int, first: int) -> Float64Array:
        """Read weights, which must be finite and at least 0."""
        weights = self._numbers(column, position, first, "a weight of at least 0")
        invalid = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        self.report("unfit_weight", column, position, first, invalid, "a finite weight of at least 0")
        return weights

    def float32(self, column: Any, position: int, first: int, expected: str) -> Float64Array:
        """Read numbers within the range of float32, and infinite ones, as float64; others become NaN."""
        values = self._numbers(column, position, first, expected)
        large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= INFINITE_FLOAT32))
        within = f"{expected} within float32's range of 3.4e38"
        self.report("out_of_range", column, position, first, large, within)
        values[large] = np.nan
        return values

    def lists(self, column: Any, position: int, first: int, width: int) -> Float64Array:
        """Read lists of numbers as a matrix (n_rows, width)."""
        lists = read_lists(column, width)
        expected = f"expected a list of {width:,} numbers as in the first rows"
        for row in lists.wrong_length[:_MAX_REPORTED_CELLS].tolist():
            length = f"a list of {lists.lengths[row]:,}"
            self._add("list_length", position, first + row, f"{expected}, but found {length}", length)
        unshown = len(lists.wrong_length[_MAX_REPORTED_CELLS:])
        self.problems.count("list_length", self._table.names[position], unshown)
        self._report_large(lists.values, position, first)
        return lists.values

    def texts(self, column: Any, position: int) -> Any:
        """Read texts; numbers and other single values become text."""
        self.refuse_nested(column, position, "a text")
        return plain_texts(column)

    def identifiers(self, column: Any, position: int, first: int) -> NormalisedIds:
        """Read ids of queries or documents."""
        normalised = normalise_column(column)
        self.report("inexact_id", column, position, first, normalised.invalid, EXPECTED)
        return normalised

    def report(
        self, cause: str, column: Any, position: int, first: int, wrong: Int64Array, expected: str
    ) -> None:
        """Record wrong cells of a block; `wrong` are rows within the block."""
        for row in wrong[:_MAX_REPORTED_CELLS].tolist():
            text = cell_text(column, row)
            shown = repr(shortened(text)) if text else "an empty cell"
            self._add(cause, position, first + row, f"expected {expected}, but found {shown}", text)
        self.problems.count(cause, self._table.names[position], len(wrong[_MAX_REPORTED_CELLS:]))

    def refuse_nested(self, column: Any, position: int, expected: str) -> None:
        """Refuse a column of lists or structures.

        Raises:
            DatasetError: The column has such values.
        """
        if kind_of(column.type) in ("list", "other"):
            raise DatasetError.at(
                f"expected {expected}, but column {self._table.names[position]!r} holds {column.type}",
                file=self._table.file,
            )

    def fail_if_wrong(self) -> None:
        """Raise a DatasetError with the wrong cells, if there are any."""
        if self.problems:
            self.problems.fail(self._table.file, self._table.lines, line_unit(self._table.format))

    def _numbers(self, column: Any, position: int, first: int, expected: str) -> Float64Array:
        self.refuse_nested(column, position, expected)
        values, wrong = numbers(column)
        if len(wrong):
            commas = are_decimal_commas(column.take(pa.array(wrong)))
            self.report("not_a_number", column, position, first, wrong[~commas], expected)
            with_point = f"{expected}, with a point instead of a comma"
            self.report("decimal_comma", column, position, first, wrong[commas], with_point)
        return values

    def _report_large(self, values: Float64Array, position: int, first: int) -> None:
        """Record list numbers that float32 rounds to infinity, and replace them by NaN."""
        is_large = np.isfinite(values) & (np.abs(values) >= INFINITE_FLOAT32)
        if not is_large.any():
            return
        name = self._table.names[position]
        large = np.argwhere(is_large)
        for row, number in large[:_MAX_REPORTED_CELLS].tolist():
            text = str(values[row, number])
            expected = f"expected {name}.{number} within float32's range of 3.4e38"
            self._add("out_of_range", position, first + row, f"{expected}, but found {text}", text)
        self.problems.count("out_of_range", name, len(large[_MAX_REPORTED_CELLS:]))
        values[is_large] = np.nan

    def _add(self, cause: str, position: int, row: int, detail: str, text: str) -> None:
        """Record a wrong cell; `row` is counted from the first row of the table."""
        name = self._table.names[position]
        has_role = position in self._by_role.values()
        remedy = "" if has_role else f"; or name {name!r} in columns.ignore"
        self.problems.add(cause, self._table.record(row), position, name, detail + remedy, shortened(text))
