"""Differences between the estimates of rankings, with verdicts where the log has enough support; the gate."""

from dataclasses import dataclass
from itertools import combinations

from core.clicks.counterfactual.estimates import Estimates, ResampledEstimate, SystemEstimate
from core.evaluation.bootstrap import interval_of
from core.evaluation.intervals import reported_interval


@dataclass(frozen=True)
class Difference:
    """The difference of two estimates.

    Attributes:
        second: Name of the second ranking.
        value: Estimate of the second ranking minus the estimate of the first.
        lower: Lower end of the 95% interval of the difference, from paired bootstrap samples; None for
            fewer than eight clusters.
        upper: Upper end of the interval.
        corrected: Difference without clipping, if documents that count as 0 for lack of support were as good
            as the others.
        better: Name of the better ranking, None where the interval contains 0, where support is missing, or
            where documents without support or clipped weights may reverse the difference.
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
        clusters: Number of bootstrap clusters, see `Estimates`.
        systems: Estimates, the logged ranking first.
    """

    metric: str
    estimator: str
    lists: int
    clusters: int
    systems: list[SystemEstimate]
    differences: list[Difference]


def counterfactual_result(metric: str, estimator: str, estimates: Estimates) -> CounterfactualResult:
    """Compare all pairs of rankings; pairs with the logged ranking come first."""
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
    unsupported = next((system for system in (a, b) if system.missing), None)
    numbers = _difference_text(metric, value, lower, upper)
    better: str | None = None
    if unsupported:
        sentence = f"No verdict on {b.name} against {a.name}: for {unsupported.name}, {unsupported.missing}."
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


_ADVICE = "use a longer log that shows more of the ranked documents, another clip, or an interleaving"


def admits_by_estimates(
    margin: float, champion: str, challenger: str, result: CounterfactualResult
) -> tuple[bool, str]:
    """Return whether estimates allow a challenger to replace a champion, and the reason.

    The 95% interval of the difference must lie above −`margin`, so that a margin of 0 admits only a
    significantly better challenger. Without enough support in the log, no challenger is admitted. The
    difference must also be above −`margin` without clipping, if unsupported documents are as good as others.

    Args:
        margin: Loss of the metric that the interval must exclude, at least 0.
        result: Estimates of both, the champion before the challenger.
    """
    by = f"by {result.metric}, estimated from clicks"
    pair = (champion, challenger)
    for system in result.systems:
        if system.name in pair and system.missing:
            return False, f"no verdict {by}: for {system.name}, {system.missing}; {_ADVICE}"
    difference = next(each for each in result.differences if (each.first, each.second) == pair)
    admitted = difference.lower is not None and difference.lower > -margin
    if admitted and difference.corrected < -margin:
        return False, f"no verdict {by}: {_reversal(difference, margin)}; {_ADVICE}"
    return admitted, f"{_verdict(difference, margin, admitted)} {by}: {_numbers(difference, result)}"


def _reversal(difference: Difference, margin: float) -> str:
    causes = "documents that the log does not support, or clipped weights,"
    if margin:
        return f"{causes} may make {difference.second} worse by more than {margin:g}"
    return f"{causes} may reverse it"


def _verdict(difference: Difference, margin: float, admitted: bool) -> str:
    champion, challenger = difference.first, difference.second
    if difference.better == challenger:
        return f"{challenger} is better than {champion}"
    if admitted:
        return f"{challenger} is worse than {champion} by less than {margin:g}, if at all,"
    if difference.better == champion:
        return f"{champion} is better than {challenger}"
    if margin:
        return f"{challenger} may be worse than {champion} by {margin:g} or more"
    return f"there is no evidence that {challenger} is better than {champion}"


def _numbers(difference: Difference, result: CounterfactualResult) -> str:
    values = {system.name: system.value for system in result.systems}
    has_interval = difference.lower is not None
    interval = f" [{difference.lower:+.4f}, {difference.upper:+.4f}]" if has_interval else ""
    return (
        f"{values[difference.second]:.4f} against {values[difference.first]:.4f},"
        f" difference {difference.value:+.4f}{interval},"
        f" over {result.lists:,} lists"
    )
