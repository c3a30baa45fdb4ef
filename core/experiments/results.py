"""Results of the trainings of a plan, and values of the cells of a table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.experiments.paper import EpochTiming, Part
from core.experiments.plan import Cell
from core.types import Float64Array

Values = Sequence[float | None]
Timings = Mapping[EpochTiming, float]  # milliseconds
# The reported quantile of the iteration times: a low one, because other load on the machine only adds time.
_TIME_QUANTILE = 0.1


@dataclass(frozen=True)
class RunResult:
    """Results of a training, from the job's history and its evaluations.

    Attributes:
        per_query: (n_queries,) values by part of the data and metric, NaN where undefined. All runs on the
            same dataset have the same order of queries; folds are concatenated.
        curves: Values of each measured iteration by dataset (`validation`, `diagnostics`) and metric.
        iterations: The measured iterations, from 1.
        milliseconds: Wall time of each measured iteration by part: `objective`, `tree`.
        best_iteration: Iteration of the last tree that is kept.
        failure: Reason for a missing result, None if the result is available.
    """

    per_query: Mapping[Part, Mapping[str, Float64Array]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    iterations: Sequence[int] = ()
    milliseconds: Mapping[str, Values] = field(default_factory=dict)
    best_iteration: int | None = None
    failure: str | None = None


@dataclass(frozen=True, eq=False)
class CellValue:
    """The value of a cell of a table, in natural units: NDCG from 0 to 1, milliseconds.

    Attributes:
        value: The number, None without a result.
        run: Digest of the training that gave the number; of several candidates, the selected one.
        per_query: (n_queries,) values of a mean, None for other measures.
        trees: Numbers of trees at the points of a curve.
        curve: Values at these points.
        missing: Reason for a missing number.
    """

    value: float | None
    run: str | None = None
    per_query: Float64Array | None = None
    trees: tuple[int, ...] = ()
    curve: tuple[float, ...] = ()
    missing: str | None = None


def cell_value(cell: Cell, results: Mapping[str, RunResult], timings: Timings) -> CellValue:
    """Compute the value of a cell from the available results."""
    if cell.timings:
        return _epoch_time_value(cell, timings)
    if not cell.runs:
        return CellValue(None, missing="printed only")
    for digest in cell.runs:
        failure = results[digest].failure if digest in results else "not trained yet"
        if failure is not None:
            return CellValue(None, missing=failure)
    chosen = max(cell.runs, key=lambda digest: _validation_value(results[digest], cell.selection))
    return _result_value(cell, chosen, results[chosen])


def _epoch_time_value(cell: Cell, timings: Timings) -> CellValue:
    """Return the time of an epoch, the ratio of two times, or the slope of times on logarithmic scales."""
    if any(timing not in timings for timing in cell.timings):
        return CellValue(None, missing="not timed yet")
    milliseconds = [timings[timing] for timing in cell.timings]
    if cell.entry.measure == "epoch-milliseconds":
        return CellValue(milliseconds[0])
    if cell.entry.measure == "epoch-ratio":
        return CellValue(milliseconds[0] / milliseconds[1])
    documents = [float(timing.documents) for timing in cell.timings]
    return CellValue(float(np.polyfit(np.log(documents), np.log(milliseconds), 1)[0]))


def _validation_value(result: RunResult, metric: str) -> float:
    """Return the mean over the validation queries, or the best value of the curve if they were not evaluated.

    Curves of several folds have only their common iterations, so that the best ones may be missing. A metric
    that is undefined on all queries has the value -inf.
    """
    values = result.per_query.get("validation", {}).get(metric)
    if values is not None:
        return -math.inf if np.isnan(values).all() else float(np.nanmean(values))
    curve = [value for value in result.curves.get("validation", {}).get(metric, ()) if value is not None]
    return max(curve, default=-math.inf)


def _result_value(cell: Cell, digest: str, result: RunResult) -> CellValue:
    entry = cell.entry
    if entry.measure == "mean":
        values = result.per_query.get(entry.part, {}).get(entry.metric)
        if values is None or np.isnan(values).all():
            return CellValue(None, digest, missing=f"no {entry.metric} on the {entry.part} data")
        return CellValue(float(np.nanmean(values)), digest, values)
    if entry.measure in ("objective-milliseconds", "tree-milliseconds"):
        milliseconds = _milliseconds(result, entry.measure)
        missing = None if milliseconds is not None else "no iteration times"
        return CellValue(milliseconds, digest, missing=missing)
    return _curve_value(cell, digest, result)


def _milliseconds(result: RunResult, measure: str) -> float | None:
    parts = ("objective",) if measure == "objective-milliseconds" else ("objective", "tree")
    columns = [result.milliseconds.get(part, ()) for part in parts]
    sums = [sum(times) for times in zip(*columns, strict=True) if None not in times]
    return float(np.quantile(sums, _TIME_QUANTILE)) if sums else None


def _curve_value(cell: Cell, digest: str, result: RunResult) -> CellValue:
    dataset, _, metric = cell.entry.metric.partition("/")
    values = result.curves.get(dataset, {}).get(metric, ())
    points = [
        (tree, value)
        for tree, value in zip(result.iterations, values, strict=False)
        if value is not None and math.isfinite(value)
    ]
    if not points:
        return CellValue(None, digest, missing=f"no curve of {metric}")
    trees, curve = (tuple(column) for column in zip(*points, strict=True))
    if cell.entry.measure == "best":
        value = max(curve)
    else:
        counted = [value for tree, value in points if tree >= cell.entry.first_tree]
        if not counted:
            return CellValue(None, digest, None, trees, curve, "too few trees")
        value = float(np.mean(counted))
    return CellValue(value, digest, None, trees, curve)
