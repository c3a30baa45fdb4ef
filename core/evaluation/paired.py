"""Paired tests of two systems over the queries of one dataset."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.errors import InvalidInput
from core.evaluation.intervals import columns_by_defined_queries, mean_intervals, reported_interval
from core.evaluation.randomisation import randomisation_p_values
from core.types import Float64Array

SIGNIFICANCE = 0.05
POWER = 0.8
MIN_DIFFERING_QUERIES = 6  # with fewer, Fisher's test has no p-value below 0.05
_ADDED_QUERIES = 2  # beyond the minimum of Fisher's test, which then has about the power of the t-test
_ROUNDING = 1e-12
Verdict = Literal["better", "worse", "no evidence"]


@dataclass(frozen=True)
class PairedDifference:
    """One metric of two systems on the same queries; differences are B − A.

    Attributes:
        mean_a: Mean of A over `queries`.
        lower: Lower end of the 95% interval of the difference, see `mean_intervals`; None for one query.
        upper: Upper end, None for one query.
        t_test_p: Two-sided p-value of the paired t-test (Student 1908); None if all differences are equal.
        randomisation_p: Two-sided p-value of Fisher's randomisation test.
        wins: Queries on which B has the larger value.
        losses: Queries on which A has the larger value.
        queries: Number of queries on which the metric is defined for both.
        skipped: Number of queries on which the metric is undefined for at least one system.
        effect_size: Difference over the standard deviation of the differences; None if that is 0.
        queries_needed: Queries needed to detect a difference of this size with a power of 80%, at p < 0.05 or
            by the correction of a comparison; None where there is no difference, or one query.
    """

    mean_a: float
    mean_b: float
    difference: float
    lower: float | None
    upper: float | None
    t_test_p: float | None
    randomisation_p: float
    wins: int
    ties: int
    losses: int
    queries: int
    skipped: int
    effect_size: float | None
    queries_needed: int | None

    def corrected_for(self, open_tests: int) -> "PairedDifference":
        """Return the difference with the queries needed if several tests are not significant yet (Holm)."""
        if open_tests < 2 or not self.effect_size or self.queries_needed is None:
            return self
        return replace(self, queries_needed=queries_needed(self.effect_size, 1.0, SIGNIFICANCE / open_tests))

    @property
    def interval(self) -> str:
        """The interval for sentences."""
        if self.lower is None or self.upper is None:
            return "one query gives no interval"
        return f"95% interval {self.lower:+.4f} to {self.upper:+.4f}"

    @property
    def too_few_warning(self) -> str | None:
        """Warning if too few queries differ for any significant result, else None."""
        differing = self.wins + self.losses
        if differing >= MIN_DIFFERING_QUERIES:
            return None
        if differing == 0:
            return "No query differs."
        unit = "query differs" if differing == 1 else "queries differ"
        return (
            f"Only {differing} {unit}; no difference can be significant with fewer than"
            f" {MIN_DIFFERING_QUERIES}."
        )


def paired_differences(
    a: Float64Array,
    b: Float64Array,
    *,
    largest: Sequence[float] | None = None,
    permutations: int = 100_000,
    seed: int = 0,
    threads: int = 1,
) -> list[PairedDifference | None]:
    """Compare two systems, metric by metric.

    Args:
        a: (n_queries, n_metrics) values of A, NaN where a metric is undefined.
        b: (n_queries, n_metrics) values of B.
        largest: Largest possible difference by metric, which limits the intervals; None for no limits.
        permutations: Random sign assignments of the randomisation test.

    Returns:
        A comparison for each metric, None where no query has a value for both systems.

    Raises:
        InvalidInput: The shapes differ.
    """
    if a.shape != b.shape:
        raise InvalidInput.at("/b", f"must have the shape of a, {a.shape}; found {b.shape}")
    limits = np.full(a.shape[1], np.inf) if largest is None else np.asarray(largest, np.float64)
    compared: list[PairedDifference | None] = [None] * a.shape[1]
    defined = ~(np.isnan(a) | np.isnan(b))
    for columns in columns_by_defined_queries(defined):
        rows = defined[:, columns[0]]
        if rows.any():
            values = a[rows][:, columns], b[rows][:, columns]
            tests = _Tests(*values, limits[columns], permutations, seed, threads)
            for metric, column in enumerate(columns):
                compared[column] = tests.of(metric, skipped=int(len(rows) - rows.sum()))
    return compared


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple tests (Holm 1979), to compare each with 0.05.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, test in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[test]))
        adjusted[test] = highest
    return adjusted


def verdict(difference: float, adjusted_p: float, significance: float = SIGNIFICANCE) -> Verdict:
    """Return the verdict on B by its difference B − A and the adjusted p-value."""
    if adjusted_p >= significance or difference == 0.0:
        return "no evidence"
    return "better" if difference > 0.0 else "worse"


def format_p(p: float) -> str:
    """Format a p-value for sentences."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}"


def queries_needed(difference: float, deviation: float, significance: float = SIGNIFICANCE) -> int | None:
    """Return the number of queries that detect a mean difference with 80% power, two-sided.

    The number is the smallest n >= ((t_(1 - α/2) + t_0.8) s / δ)², with quantiles of n - 1 degrees of
    freedom. For α = 0.05, this matches the noncentral t distribution to a fifth of a query. It is then at
    least 8: Fisher's randomisation test, the decisive test, needs 6 for any p < 0.05, and has less power than
    the t-test below 8.

    Args:
        difference: δ, the mean difference.
        deviation: s, the standard deviation of the differences.
        significance: α, the level below which a p-value is significant. With Holm's correction, α is 0.05
            divided by the number of tests that are not significant yet.

    Returns:
        None where there is no difference, apart from rounding.

    Example:
        >>> queries_needed(0.02, 0.1)
        199
    """
    if abs(difference) <= _ROUNDING * deviation or difference == 0.0:  # a tiny mean is a rounding error
        return None
    from scipy import special

    levels = np.array([1.0 - significance / 2.0, POWER])
    ratio = (deviation / difference) ** 2
    minimum = math.ceil(1.0 - math.log2(significance)) + _ADDED_QUERIES  # p is at least 2^(1 - n)
    needed: int = max(minimum, math.ceil(float(special.ndtri(levels).sum()) ** 2 * ratio))
    while needed < special.stdtrit(needed - 1, levels).sum() ** 2 * ratio:  # a few iterations
        needed += 1
    return needed


def t_test_p(mean: float, deviation: float, n: int) -> float:
    """Return the two-sided p-value of the paired t-test (Student 1908).

    Without any deviation it is 0, or 1 where all differences are 0.
    """
    if deviation == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    from scipy import special

    # Not scipy.stats, whose import takes half a second.
    return 2.0 * float(special.stdtr(n - 1, -abs(mean) / deviation * math.sqrt(n)))


def p_of_differences(differences: Float64Array) -> float:
    """Return the two-sided p-value of the paired t-test, 1 where fewer than six queries differ.

    Metrics have few values, so that few queries may differ by equal amounts by chance, without any deviation.

    Args:
        differences: (n_queries,) finite differences of two systems.

    Example:
        >>> p_of_differences(np.array([0.5, 0.5]))
        1.0
    """
    if np.count_nonzero(differences) < MIN_DIFFERING_QUERIES:
        return 1.0
    return t_test_p(float(differences.mean()), float(differences.std(ddof=1)), len(differences))


class _Tests:
    """The tests of metrics that are defined for the same queries, (n_queries, n_metrics) each."""

    def __init__(
        self,
        a: Float64Array,
        b: Float64Array,
        limits: Float64Array,
        permutations: int,
        seed: int,
        threads: int,
    ) -> None:
        self._a, self._b = a, b
        self._differences = b - a
        self._p = randomisation_p_values(self._differences, permutations, seed, threads)
        ends = mean_intervals(self._differences, seed=seed, threads=threads)
        # Both ends are infinite for one query, which gives no interval.
        self._lower, self._upper = (
            np.where(np.isfinite(end), np.clip(end, -limits, limits), end) for end in ends
        )

    def of(self, metric: int, skipped: int) -> PairedDifference:
        differences = self._differences[:, metric]
        mean = float(differences.mean())
        deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
        # Equal differences may vary in their last digits, due to rounding.
        varies = deviation > _ROUNDING * float(np.abs(differences).max())
        lower, upper = reported_interval(self._lower[metric], self._upper[metric])
        return PairedDifference(
            mean_a=float(self._a[:, metric].mean()),
            mean_b=float(self._b[:, metric].mean()),
            difference=mean,
            lower=lower,
            upper=upper,
            t_test_p=t_test_p(mean, deviation, len(differences)) if varies else None,
            randomisation_p=float(self._p[metric]),
            wins=int(np.count_nonzero(differences > 0.0)),
            ties=int(np.count_nonzero(differences == 0.0)),
            losses=int(np.count_nonzero(differences < 0.0)),
            queries=len(differences),
            skipped=skipped,
            effect_size=mean / deviation if varies else None,
            queries_needed=queries_needed(mean, deviation) if len(differences) > 1 else None,
        )
