"""Summaries of a metric over queries: mean, confidence interval and quantiles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.evaluation.bootstrap import RESAMPLES
from core.evaluation.intervals import columns_by_defined_queries, mean_intervals, reported_interval
from core.metrics import Metric
from core.types import Float64Array

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Summary:
    """Summary of a metric over queries; all but the counts are None if it is undefined for all queries.

    Attributes:
        mean: Mean over the queries on which the metric is defined; geometric for geometric metrics.
        lower: Lower end of the 95% interval of the mean, see `mean_intervals`; None where it has no bound:
            a metric without bounds on one query.
        upper: Upper end, None as for `lower`.
        quantiles: Quantiles over the queries, `p05` to `p95`.
        queries: Number of queries on which the metric is defined.
        skipped: Number of queries on which the metric is undefined.
    """

    mean: float | None
    lower: float | None
    upper: float | None
    quantiles: dict[str, float] | None
    queries: int
    skipped: int


def summarise_all(
    values: Mapping[str, Float64Array],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    threads: int = 1,
    metrics: Mapping[str, Metric] | None = None,
) -> dict[str, Summary]:
    """Summarise several metrics of the same queries.

    Args:
        values: (n_queries,) values of each metric, NaN where undefined.
        resamples: Resamples of each interval, see `mean_intervals`.
        seed: Seed of the resampling; the same seed gives the same interval.
        threads: Threads to use; the result does not depend on them.
        metrics: The metrics by name, whose bounds narrow the intervals of few queries; other values have no
            bounds. For geometric metrics, mean and interval are exponentials of the logarithms' mean and
            interval.

    Example:
        >>> summary = summarise_all({"ndcg": np.array([0.5, 0.5, np.nan])})["ndcg"]
        >>> summary.mean, summary.lower, summary.upper, summary.queries, summary.skipped
        (0.5, 0.5, 0.5, 2, 1)
    """
    if not values:
        return {}
    names, parsed = list(values), metrics or {}
    geometric = {name for name, metric in parsed.items() if metric.geometric_mean}
    bounds = np.array([parsed[name].bounds if name in parsed else (-np.inf, np.inf) for name in names])
    for column, name in enumerate(names):
        if name in geometric:
            bounds[column] = np.log(bounds[column])
    table = np.column_stack([np.log(values[name]) if name in geometric else values[name] for name in names])
    defined = ~np.isnan(table)
    summaries: dict[str, Summary] = {}
    for columns in columns_by_defined_queries(defined):
        rows = defined[:, columns[0]]
        measured = table[rows][:, columns]
        skipped = len(table) - len(measured)
        if not len(measured):
            summaries |= {names[column]: Summary(None, None, None, None, 0, skipped) for column in columns}
            continue
        lowers, uppers = mean_intervals(
            measured, bounds[columns], resamples=resamples, seed=seed, threads=threads
        )
        for column, column_values, lower, upper in zip(columns, measured.T, lowers, uppers, strict=True):
            to_original_scale = np.exp if names[column] in geometric else np.float64
            quantiles = np.quantile(to_original_scale(column_values), QUANTILES)
            reported = reported_interval(to_original_scale(lower), to_original_scale(upper))
            summaries[names[column]] = Summary(
                mean=float(to_original_scale(column_values.mean())),
                lower=reported[0],
                upper=reported[1],
                quantiles={
                    f"p{round(100 * share):02d}": float(value)
                    for share, value in zip(QUANTILES, quantiles, strict=True)
                },
                queries=len(measured),
                skipped=skipped,
            )
    return {name: summaries[name] for name in names}
