"""Differences between the estimates of rankings, with verdicts where the log has enough support."""

from dataclasses import dataclass
from itertools import combinations

from core.clicks.counterfactual.estimates import Estimates, ResampledEstimate, SystemEstimate
from core.evaluation.bootstrap import interval_of
from core.evaluation.intervals import reported_interval


@dataclass(frozen=True)
class Difference:
    """The difference of two estimates.

    Attributes:
        first: Name of the first ranking.
        second: Name of the second ranking.
        value: Estimate of the second ranking minus the estimate of the first.
        lower: Lower end of the 95% interval of the difference, from paired bootstrap samples; None for
            fewer than eight clusters.
        upper: Upper end of the interval.
        corrected: Difference without clipping, if documents that count as 0 for lack of support were as good
            as the others.
        better: Name of the better ranking, None where the interval contains 0, where support is missing, or
            where documents without support or clipped weights may reverse the difference.
        sentence: The verdict in a sentence.
    """

    first: str
    second: str
    value: float
    lower: float | None
    upper: float | None
    corrected: float
    better: str | None
    sentence: str


@dataclass(frozen=True)
class CounterfactualResult:
    """The result of a counterfactual evaluation.

    Attributes:
        metric: Spelling of the metric.
        estimator: Name of the estimator.
        lists: Number of lists in the estimates.
        clusters: Number of bootstrap clusters, see `Estimates`.
        systems: Estimates, the logged ranking first.
        differences: Differences of all pairs.
    """

    metric: str
    estimator: str
    lists: int
    clusters: int
    systems: list[SystemEstimate]
    differences: list[Difference]


def counterfactual_result(metric: str, estimator: str, estimates: Estimates) -> CounterfactualResult:
    """Compare all pairs of rankings; pairs with the logged ranking come first.

    Args:
        metric: Spelling of the metric.
        estimator: Name of the estimator.
        estimates: Estimates of the rankings.
    """
    pairs = combinations(estimates.estimated, 2)
    return CounterfactualResult(
        metric,
        estimator,
        estimates.lists,
        estimates.clusters,
        [estimated.estimate for estimated in estimates.estimated],
        [_difference(metric, first, second, estimates.clusters) for first, second in pairs],
    )


def _difference(
    metric: str, first: ResampledEstimate, second: ResampledEstimate, clusters: int
) -> Difference:
    a, b = first.estimate, second.estimate
    lower, upper = interval_of(second.resampled - first.resampled, clusters)
    value, corrected = b.value - a.value, _unclipped_estimate(second) - _unclipped_estimate(first)
    missing = next((system for system in (a, b) if system.missing), None)
    numbers = _difference_text(metric, value, lower, upper)
    better: str | None = None
    if missing:
        sentence = f"No verdict on {b.name} against {a.name}: for {missing.name}, {missing.missing}."
    elif (lower > 0.0 or upper < 0.0) and value * corrected < 0.0:
        sentence = (
            f"No verdict on {b.name} against {a.name}: {numbers}, but {_unreliable_shares(a, b)}, which may"
            " reverse it."
        )
    elif lower > 0.0:
        better = b.name
        sentence = f"{b.name} is better than {a.name}: {numbers}."
    elif upper < 0.0:
        better = a.name
        sentence = f"{a.name} is better than {b.name}: {_difference_text(metric, -value, -upper, -lower)}."
    else:
        sentence = f"No significant difference between {a.name} and {b.name}: {numbers}."
    reported_lower, reported_upper = reported_interval(lower, upper)
    return Difference(a.name, b.name, value, reported_lower, reported_upper, corrected, better, sentence)


def _difference_text(metric: str, value: float, lower: float, upper: float) -> str:
    return f"{metric} {value:+.4f} [{lower:+.4f}, {upper:+.4f}]"


def _unreliable_shares(a: SystemEstimate, b: SystemEstimate) -> str:
    parts = []
    if a.unsupported or b.unsupported:
        parts.append(
            f"the log does not support {a.unsupported:.0%} of {a.name} and {b.unsupported:.0%} of {b.name}"
        )
    if a.clipped or b.clipped:
        parts.append(
            f"{a.clipped:.0%} of the weights of {a.name} and {b.clipped:.0%} of {b.name} are clipped"
        )
    return " and ".join(parts)


def _unclipped_estimate(estimated: ResampledEstimate) -> float:
    """Return the estimate without clipping, if documents without support were as good as the others.

    The zeros favour the ranking that is closer to the logged one.
    """
    return estimated.estimate.value / (1.0 - estimated.zeros) if estimated.zeros < 1.0 else 0.0
