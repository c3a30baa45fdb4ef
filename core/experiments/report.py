"""Reports: a paper's tables with our numbers, printed numbers and differences, and verdicts on its claims."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from core.evaluation.intervals import mean_intervals, reported_interval
from core.experiments.judgement import Judge, Judgement, PairedTests, p_value
from core.experiments.paper import Printed, Table
from core.experiments.plan import Cell, Plan
from core.experiments.render import to_csv, to_latex, to_markdown
from core.experiments.results import CellValue, RunResult, Timings, cell_value
from core.experiments.rules import Above, Alike, CellKey
from core.metrics import parse_metric
from core.types import Float64Array

_UNITS = {"percent": 100.0, "fraction": 1.0, "milliseconds": 1.0, "number": 1.0}
PERMUTATIONS = 100_000


@dataclass(frozen=True)
class ReportCell:
    """Measured and printed number of a cell, both in the table's unit.

    Attributes:
        ours: Measured number, None without a result.
        lower: Lower end of the 95% interval over queries, None without per-query values.
        upper: Upper end of the 95% interval.
        mark: Mark of significance by the paper's own test.
        p: p-value of that test.
        printed: The printed number with its mark.
        difference: `ours` − printed number; None where the printed number was measured on other data.
        deviations: Numbers, from 1, of the table's deviations that apply to the cell.
        run: Digest of the training.
        trees: Iterations of a curve.
        curve: Values of a curve, in natural units.
    """

    row: str
    column: str
    ours: float | None
    lower: float | None
    upper: float | None
    queries: int | None
    mark: str
    p: float | None
    printed: Printed | None
    difference: float | None
    missing: str | None
    deviations: tuple[int, ...]
    run: str | None
    trees: tuple[int, ...]
    curve: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON to store."""
        values = {**vars(self), "printed": self.printed and vars(self.printed)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@dataclass(frozen=True)
class ReportTable:
    """A table of the report.

    Attributes:
        cells: Cells by row and column.
        deviations: Differences from the paper's set-up, numbered from 1.
    """

    table: Table
    cells: Mapping[CellKey, ReportCell]
    claims: tuple[Judgement, ...]
    deviations: tuple[str, ...]

    @property
    def has_printed(self) -> bool:
        """Return whether any number was printed."""
        return any(cell.printed for cell in self.cells.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON to store."""
        table = self.table
        return {
            "name": table.name,
            "caption": table.caption,
            "unit": table.unit,
            "rows": list(table.rows),
            "columns": list(table.columns),
            "protocol": table.protocol.description,
            "test": table.significance.description if table.significance else None,
            "cells": [cell.to_dict() for cell in self.cells.values()],
            "claims": [judgement.to_dict() for judgement in self.claims],
            "deviations": list(self.deviations),
        }


@dataclass(frozen=True)
class Report:
    """The report of a plan, complete or of the results so far.

    Attributes:
        timings: Milliseconds of the epochs that were timed.
    """

    plan: Plan
    tables: tuple[ReportTable, ...]
    trained: int
    timings: Timings

    @property
    def orientation(self) -> str | None:
        """Return a warning if the printed numbers were measured on other data, else None."""
        if self.plan.as_printed or not any(table.has_printed for table in self.tables):
            return None
        return (
            f"Printed numbers are for {self.plan.corpus} and for orientation only: this data is"
            f" {_DATA_ORIGIN[self.plan.data]}."
        )

    @property
    def scale_note(self) -> str:
        """Return the description of the scale."""
        if self.plan.scale == "paper":
            return f"The paper's protocol: {self.plan.sizes}."
        return (
            f"Quick scale instead of the paper's protocol: {self.plan.sizes}, smaller trees, shorter"
            " trainings and fewer grid points."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON to store."""
        paper = self.plan.paper
        return {
            "paper": paper.name,
            "title": paper.title,
            "year": paper.year,
            "scale": self.plan.scale,
            "data": self.plan.data,
            "corpus": self.plan.corpus,
            "as_printed": self.plan.as_printed,
            "runs": {"planned": len(self.plan.runs), "trained": self.trained},
            "notes": [note for note in (self.scale_note, self.orientation) if note],
            "tables": [table.to_dict() for table in self.tables],
            "timings": [
                {**asdict(timing), "milliseconds": milliseconds}
                for timing, milliseconds in self.timings.items()
            ],
        }

    def to_markdown(self) -> str:
        """Return the tables, deviations and claims as Markdown."""
        return to_markdown(self.to_dict())

    def to_csv(self) -> str:
        """Return the report as CSV, with one line per cell."""
        return to_csv(self.to_dict())

    def to_latex(self) -> str:
        """Return a `table` environment for each table, with claims and deviations below it."""
        return to_latex(self.to_dict())


_DATA_ORIGIN = {
    "synthetic": "drawn from a cubic polynomial",
    "sparse": "drawn with sparse labels",
    "folder": "not recognised as a corpus of the paper",
}


def report(
    plan: Plan,
    results: Mapping[str, RunResult],
    timings: Timings = MappingProxyType({}),
    *,
    permutations: int = PERMUTATIONS,
    threads: int = 1,
) -> Report:
    """Fill a plan's tables and judge its claims; results may still be missing.

    Args:
        results: Results by the digest of the run.
        timings: Milliseconds of the plan's timed epochs.
        permutations: Random assignments of Fisher's test.
    """
    tables = []
    tests = PairedTests(permutations, threads)
    for table in plan.tables:
        cells = [cell for cell in plan.cells if cell.table == table.name]
        values = {(cell.row, cell.column): cell_value(cell, results, timings) for cell in cells}
        tables.append(_TableBuilder(plan, table, cells, values, tests, threads).build())
    trained = sum(digest in results and results[digest].failure is None for digest in plan.runs)
    return Report(plan, tuple(tables), trained, timings)


class _TableBuilder:
    """Fills one table of a report, and judges its claims."""

    def __init__(
        self,
        plan: Plan,
        table: Table,
        cells: list[Cell],
        values: Mapping[CellKey, CellValue],
        tests: PairedTests,
        threads: int,
    ) -> None:
        self._plan, self._table, self._cells, self._values = plan, table, cells, values
        self._tests, self._threads = tests, threads
        self._unit = _UNITS[table.unit]
        self._printed = table.printed.get(plan.corpus, {})
        methods = [cell.entry.method for cell in cells if cell.entry.method is not None]
        of_methods = (text for method in methods for text in method.deviations)
        self._deviations = tuple(dict.fromkeys((*plan.paper.deviations, *table.deviations, *of_methods)))

    def build(self) -> ReportTable:
        self._tests.run_all(self._compared_values())
        judge = Judge(self._values, self._table.significance, self._unit, self._tests)
        claims = tuple(judge.judge(claim) for claim in self._table.claims)
        cells = {(cell.row, cell.column): cell for cell in self._report_cells()}
        return ReportTable(self._table, cells, claims, self._deviations)

    def _compared_values(self) -> Iterator[tuple[Float64Array, Float64Array]]:
        """Yield the per-query values of all pairs that marks, `Above` and `Alike` compare."""
        significance = self._table.significance
        references = significance.reference if significance else {}
        pairs = [
            ((cell.row, cell.column), (references[cell.row], cell.column))
            for cell in self._cells
            if cell.row in references
        ]
        rules = (claim.rule for claim in self._table.claims)
        pairs += [pair for rule in rules if isinstance(rule, Above | Alike) for pair in rule.pairs]
        for pair in pairs:
            first, second = (self._values.get(cell_key, CellValue(None)).per_query for cell_key in pair)
            if first is not None and second is not None:
                yield first, second

    def _report_cells(self) -> Iterator[ReportCell]:
        intervals = self._intervals()
        for cell in self._cells:
            value = self._values[cell.row, cell.column]
            printed = self._printed.get(cell.row, {}).get(cell.column)
            ours = None if value.value is None else self._unit * value.value
            difference = None
            if ours is not None and printed is not None and self._plan.as_printed:
                difference = ours - printed.value
            lower, upper, queries = intervals.get((cell.row, cell.column), (None, None, None))
            p, mark = self._significance(cell)
            method = cell.entry.method
            deviations = {*self._table.deviations, *(method.deviations if method else ())}
            yield ReportCell(
                row=cell.row,
                column=cell.column,
                ours=ours,
                lower=lower,
                upper=upper,
                queries=queries,
                mark=mark,
                p=p,
                printed=printed,
                difference=difference,
                missing=value.missing,
                deviations=tuple(sorted(self._deviations.index(text) + 1 for text in deviations)),
                run=value.run,
                trees=value.trees,
                curve=value.curve,
            )

    def _intervals(self) -> dict[CellKey, tuple[float | None, float | None, int]]:
        """Return interval and number of queries of each mean; means over the same queries share resamples."""
        bounds = {
            (cell.row, cell.column): parse_metric(cell.entry.metric).bounds
            for cell in self._cells
            if self._values[cell.row, cell.column].per_query is not None
        }
        by_queries: dict[bytes, dict[CellKey, Float64Array]] = {}
        for cell_key, value in self._values.items():
            if value.per_query is not None:
                is_defined = ~np.isnan(value.per_query)
                by_queries.setdefault(is_defined.tobytes(), {})[cell_key] = value.per_query[is_defined]
        intervals: dict[CellKey, tuple[float | None, float | None, int]] = {}
        for columns in by_queries.values():
            values = np.column_stack(list(columns.values()))
            ranges = np.array([bounds[cell_key] for cell_key in columns])
            lowers, uppers = mean_intervals(values, ranges, threads=self._threads)
            for cell_key, lower, upper in zip(columns, lowers, uppers, strict=True):
                ends = reported_interval(self._unit * lower, self._unit * upper)
                intervals[cell_key] = (*ends, len(values))
        return intervals

    def _significance(self, cell: Cell) -> tuple[float | None, str]:
        significance = self._table.significance
        reference = significance.reference.get(cell.row) if significance else None
        if significance is None or reference is None or reference == cell.row:
            return None, ""
        ours = self._values[cell.row, cell.column].per_query
        baseline = self._values.get((reference, cell.column), CellValue(None)).per_query
        if ours is None or baseline is None:
            return None, ""
        paired = self._tests(ours, baseline)
        if paired is None:
            return None, ""
        p = p_value(paired, significance.test)
        if paired.difference <= 0.0 and significance.improvements_only:
            return p, ""
        marks = [(level, mark) for mark, level in significance.levels.items() if p <= level]
        return p, min(marks)[1] if marks else ""
