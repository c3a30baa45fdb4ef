"""Conclusion of an automatic training: comparison of its model with baselines that need no search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.autotrain.held_out import QueryQuality, mean_of
from core.evaluation.baselines import baselines
from core.evaluation.comparison import listed
from core.evaluation.paired import (
    PairedDifference,
    Verdict,
    format_p,
    holm,
    paired_differences,
    t_test_p,
    verdict,
)
from core.names import query_count
from core.types import Float64Array

DEFAULT_TREES = "LightGBM's default trees"
RANDOM_ORDER = "random order"
_MIN_QUERIES = 20  # fewer queries deserve a word of caution


@dataclass(frozen=True)
class BaselineComparison:
    """The comparison of the model with a baseline ranking.

    Attributes:
        value: Mean of the metric over the queries of the comparison.
        p_value: p-value after Holm's correction over the baselines: of Fisher's randomisation test or, if
            larger, of the corrected t-test. The t-test applies on several folds to a random order, and to a
            feature better than the model.
    """

    name: str
    value: float
    difference: float
    p_value: float
    verdict: Verdict


@dataclass(frozen=True)
class Conclusion:
    """The quality of the model, on queries used neither to fit it nor to choose its weights.

    The numbers of iterations, and the candidates that are stopped early, are chosen on the held-out queries.

    Attributes:
        interval: `[lower, upper]` of the mean, or None.
        data: `held-out` for queries of the training data, `test` for the queries of the test data.
    """

    sentence: str
    value: float
    interval: tuple[float, float] | None
    data: Literal["held-out", "test"]
    baselines: tuple[BaselineComparison, ...]


def conclude(
    model: str,
    metric: str,
    values: Float64Array,
    others: Sequence[tuple[str, Float64Array]],
    quality: QueryQuality,
    data: Literal["held-out", "test"],
    *,
    variance_factor: float = 1.0,
    seed: int = 0,
    threads: int = 1,
) -> Conclusion:
    """Compare a model with others, query by query.

    Args:
        values: (n_queries,) values of the model from `QueryQuality.values`, NaN where undefined.
        quality: Converts means and intervals of `values` to the units of the metric.
        data: Source of the queries, see `Conclusion`.
        variance_factor: Variance of the mean of the values over that of independent values, see
            `HeldOut.variance_factor`.
    """
    value, interval = quality.in_metric_units(mean_of(values)), quality.interval(values)
    differences = [
        paired_differences(each[:, None], values[:, None], seed=seed, threads=threads)[0]
        for _, each in others
    ]
    tests = [(name, test) for (name, _), test in zip(others, differences, strict=True) if test is not None]
    adjusted = holm([_p_value(name, test, variance_factor) for name, test in tests])
    comparisons = tuple(
        BaselineComparison(
            name,
            quality.in_metric_units(test.mean_a),
            quality.in_metric_units(test.mean_b) - quality.in_metric_units(test.mean_a),
            p,
            verdict(test.difference, p),
        )
        for (name, test), p in zip(tests, adjusted, strict=True)
    )
    n_queries = int(np.count_nonzero(~np.isnan(values)))
    sentence = _sentence(model, metric, value, interval, n_queries, data, comparisons)
    return Conclusion(sentence, value, interval, data, comparisons)


def untrained_baselines(quality: QueryQuality, seed: int) -> list[tuple[str, Float64Array]]:
    """Return the values of the best single feature and of a random order, by name.

    The feature is selected on the same queries, which favours it.
    """
    values_by_name = []
    for baseline in baselines(quality.dataset, seed):
        if baseline.name != "input order":
            is_random = baseline.name == "random"
            name = RANDOM_ORDER if is_random else f"{baseline.name} ({baseline.detail})"
            values_by_name.append((name, quality.values(baseline.scores[np.newaxis])))
    return values_by_name


def _p_value(name: str, test: PairedDifference, variance_factor: float) -> float:
    """Return the p-value of a comparison before Holm's correction.

    The models of several folds share training queries, so that held-out queries favour the model over a
    random order. A feature selected on the same queries is favoured over the model. In both cases, Fisher's
    test finds too many differences without signal. The result is then the larger of its p-value and that of
    the corrected t-test (Nadeau and Bengio 2003).
    """
    is_favoured = name == RANDOM_ORDER or (name != DEFAULT_TREES and test.difference < 0.0)
    if variance_factor == 1.0 or not is_favoured or not test.effect_size:
        return test.randomisation_p
    deviation = test.difference / test.effect_size * variance_factor**0.5
    return max(test.randomisation_p, t_test_p(test.difference, deviation, test.queries))


def _sentence(
    model: str,
    metric: str,
    value: float,
    interval: tuple[float, float] | None,
    n_queries: int,
    data: str,
    comparisons: Sequence[BaselineComparison],
) -> str:
    bounds = "" if interval is None else f" [{interval[0]:.4f}, {interval[1]:.4f}]"
    queries = query_count(n_queries, data)
    quality = f"{model} has {metric} {value:.4f}{bounds} on {queries}"
    parts = []
    for each_verdict, relation in (
        ("better", "better than"),
        ("worse", "worse than"),
        ("no evidence", "not significantly different from"),
    ):
        rivals = [
            f"{each.name} ({each.value:.4f}, {format_p(each.p_value)})"
            for each in comparisons
            if each.verdict == each_verdict
        ]
        if rivals:
            parts.append(f"{relation} {listed(rivals)}")
    sentence = f"{quality}: {'; '.join(parts)}." if parts else f"{quality}."
    if n_queries < _MIN_QUERIES:
        sentence += f" Judge more queries: fewer than {_MIN_QUERIES} are little evidence."
    return sentence
