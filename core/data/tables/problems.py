"""Collect the problems of a table: counts by cause, with examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

from core.errors import MAX_PROBLEMS, DatasetError, DatasetProblem, LineUnit, ProblemCause
from core.names import shortened

_MAX_CAUSES = 100
_EXAMPLES = 5  # example lines per cause

CAUSES: Mapping[str, str] = MappingProxyType(
    {
        "not_a_number": "Not a number",
        "decimal_comma": "Decimal comma instead of a point",
        "out_of_range": "Outside the range of float32",
        "infinite_label": "Infinite label",
        "unfit_weight": "Not a finite weight of at least 0",
        "empty_query_id": "Empty query ID",
        "inexact_id": "ID is neither a text nor an exact whole number",
        "several_values": "Several values in one query",
        "not_a_category": "Neither a text nor a whole number",
        "long_category": "Text too long for a category",
        "many_categories": "Too many different values for a category",
        "number_of_cells": "Number of cells differs from the header",
        "scattered_query": "Rows of a query that are not contiguous",
        "nested_values": "Neither numbers nor text",
        "list_length": "List length differs from the first rows",
        "row_numbers": "Unnamed column of row numbers",
        "empty_document_id": "Empty document ID",
        "empty_list_id": "Impression with an empty list ID",
        "not_a_rank": "Rank is not a whole number",
        "not_a_team": "Team is not a whole number below 32,768",
        "not_a_propensity": "Not a propensity above 0 and up to 1",
        "not_a_time": "Neither an ISO 8601 time nor a number of seconds or milliseconds",
    }
)


@dataclass(frozen=True)
class _Problem:
    row: int
    position: int
    column: str | None
    cause: str
    detail: str
    text: str | None


class Problems:
    """Problems by row (from 0) and column; raised in the order of the file."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str | None]] = Counter()
        self._problems: list[_Problem] = []
        self._ignorable: set[str] = set()
        self._is_cut_off = False

    def __bool__(self) -> bool:
        return bool(self._problems)

    def has_enough(self, cause: str, column: str | None = None) -> bool:
        """Return whether a cause already has more problems in a column than are shown."""
        return self._counts[cause, column] > MAX_PROBLEMS

    def mark_cut_off(self) -> None:
        """Record that reading stopped early, so that the counts may be too low."""
        self._is_cut_off = True

    def mark_ignorable(self, column: str) -> None:
        """Record that the file may be read without a column."""
        self._ignorable.add(column)

    def add(
        self,
        cause: str,
        row: int,
        position: int,
        column: str | None,
        detail: str,
        text: str | None = None,
    ) -> None:
        """Add a problem.

        Args:
            cause: One of `CAUSES`.
            row: Row of the file, from 0.
            position: Position of the column, for the order of problems in a row.
        """
        if not self.has_enough(cause, column):
            self._problems.append(_Problem(row, position, column, cause, detail, text))
        self._counts[cause, column] += 1

    def count(self, cause: str, column: str | None, more: int) -> None:
        """Count problems that were not added one by one."""
        if more:
            self._counts[cause, column] += more

    def fail(self, file: str, lines: Callable[[Sequence[int]], list[int]], unit: LineUnit) -> NoReturn:
        """Raise the first problems, with their lines or rows, and the counts of all problems by cause."""
        ordered = sorted(self._problems, key=lambda problem: (problem.row, problem.position))
        rows = [problem.row for problem in ordered]
        line_of_row = dict(zip(rows, lines(rows), strict=True))
        raise DatasetError(
            *(
                DatasetProblem(each.detail, file, line_of_row[each.row], each.column, each.text, unit)
                for each in ordered[:MAX_PROBLEMS]
            ),
            more=self._is_cut_off or self._counts.total() > MAX_PROBLEMS,
            causes=tuple(self._causes(ordered, line_of_row)),
        )

    def _causes(self, ordered: Sequence[_Problem], line_of_row: Mapping[int, int]) -> Iterable[ProblemCause]:
        by_cause: dict[tuple[str, str | None], list[_Problem]] = {}
        for problem in ordered:
            by_cause.setdefault((problem.cause, problem.column), []).append(problem)
        for (cause, column), count in self._counts.most_common(_MAX_CAUSES):
            examples = by_cause[cause, column][:_EXAMPLES]
            yield ProblemCause(
                cause,
                CAUSES[cause],
                column,
                count,
                self._is_cut_off,
                tuple(line_of_row[example.row] for example in examples),
                tuple(dict.fromkeys(example.text for example in examples if example.text)),
                column in self._ignorable,
            )


def cause_of_columns(cause: str, columns: Iterable[str]) -> tuple[ProblemCause, ...]:
    """Return a cause for each invalid column; another attempt may ignore the column."""
    return tuple(ProblemCause(cause, CAUSES[cause], name, 1, False, (), (), True) for name in columns)


def listed(names: Sequence[str]) -> str:
    """Format the first ten names for a message."""
    return ", ".join([shortened(name) for name in names[:10]] + ["…"] * (len(names) > 10))
