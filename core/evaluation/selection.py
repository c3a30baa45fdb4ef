"""Selection of models: find those that do not differ significantly from the best one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.evaluation.paired import SIGNIFICANCE, holm, p_of_differences
from core.types import Float64Array


@dataclass(frozen=True)
class AgainstBest:
    """Comparison of a system with the best of several systems, on the same queries.

    Attributes:
        difference: Mean of the system minus that of the best system, over queries with both values.
        p: Two-sided p-value of the paired t-test (Student 1908), adjusted for all pairs of systems; 1 where
            fewer than six queries differ, None for the best system.
        tied: Whether the difference is not significant.
    """

    difference: float
    p: float | None
    tied: bool


def against_best(values: Sequence[Float64Array], *, higher_is_better: bool = True) -> list[AgainstBest]:
    """Compare each system with the system of the best mean.

    The best system was selected on the same queries, so that its advantage is overestimated. The p-values are
    therefore adjusted for all pairs of systems: those of Holm (1979), times the pairs for each comparison.

    Args:
        values: (n_queries,) of each system, NaN where undefined; each system has at least one value.

    Example:
        >>> best, other = np.array([0.5, 0.7, 0.6, 0.8]), np.array([0.5, 0.6, 0.7, 0.7])
        >>> [each.tied for each in against_best([other, best])]
        [True, True]
    """
    means = [np.nanmean(each) for each in values]
    best = int(np.argmax(means) if higher_is_better else np.argmin(means))
    others = [system for system in range(len(values)) if system != best]
    tests = [_paired(values[system] - values[best]) for system in others]
    pairs_per_test = len(values) / 2.0
    adjusted = [min(1.0, pairs_per_test * p) for p in holm([p for _, p in tests])]
    comparisons = {
        system: AgainstBest(difference, p, p >= SIGNIFICANCE)
        for system, (difference, _), p in zip(others, tests, adjusted, strict=True)
    }
    return [comparisons.get(system, AgainstBest(0.0, None, True)) for system in range(len(values))]


def _paired(differences: Float64Array) -> tuple[float, float]:
    """Return the mean of the differences and the p-value of the test that it is 0."""
    differences = differences[~np.isnan(differences)]
    return float(differences.mean()) if len(differences) else 0.0, p_of_differences(differences)
