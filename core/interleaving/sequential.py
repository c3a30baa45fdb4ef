"""A sequential test of two rankers that is valid at any time (repeated looks), and its sample size."""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.errors import InputProblem, InvalidInput
from core.types import Float64Array

Conclusion = Literal["first", "second", "equal", "undecided"]


@dataclass(frozen=True)
class SequentialRule:
    """The stopping rule of an experiment.

    Attributes:
        error: Maximum probability, over all looks, to call a ranker better when both are equal; in (0, 0.5).
        miss: Maximum probability to call rankers equal that differ by `difference`; in (0, 0.5).
        difference: Smallest difference of interest: the share of decided units that prefer the better ranker,
            minus one half; in (0, 0.5).

    Raises:
        InvalidInput: A number is out of its range.
    """

    error: float = 0.05
    miss: float = 0.2
    difference: float = 0.05

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        numbers = {"error": self.error, "miss": self.miss, "difference": self.difference}
        wrong = [name for name, number in numbers.items() if not 0.0 < number < 0.5]
        if wrong:
            raise InvalidInput(*(InputProblem(f"/{name}", "must be above 0 and below 0.5") for name in wrong))

    def of_each_pair(self, n_rankers: int) -> "SequentialRule":
        """Return the rule of each pair of rankers; divides the error by the number of pairs (Bonferroni)."""
        return replace(self, error=self.error / math.comb(n_rankers, 2))


@dataclass(frozen=True)
class SequentialResult:
    """The state of a sequential test.

    Attributes:
        conclusion: `first` or `second` is better, `equal` if a difference as large as the rule's is excluded,
            or `undecided`.
        p: Upper bound of the p-value, valid at any time.
        decided: Number of units that prefer one of the rankers.
        needed: Estimated number of further units that an undecided test needs if the share does not change;
            None for decided tests.
    """

    conclusion: Conclusion
    p: float
    decided: int
    needed: int | None


def sequential_test(wins: int, losses: int, rule: SequentialRule) -> SequentialResult:
    """Test whether decided units prefer the first ranker with probability ½.

    L(d) = (1 + 2d)^wins (1 − 2d)^losses is the likelihood ratio of ½ + d to ½. The test is the mixture
    ½ L(d) + ½ L(−d) at the smallest difference of interest d. If the rankers are equal, the mixture ever
    exceeds 1/error with probability at most `error` (Wald 1945; Ville 1939), so p = 1 / mixture is valid at
    each look. Where L(d) and L(−d) are both at most `miss`, a difference of d or more is excluded.

    Args:
        wins: Number of units that prefer the first ranker.
        losses: Number of units that prefer the second ranker.
        rule: Error probabilities and the smallest difference of interest.

    Example:
        >>> sequential_test(300, 200, SequentialRule()).conclusion
        'first'
        >>> sequential_test(500, 500, SequentialRule()).conclusion
        'equal'
    """
    rise, fall = math.log1p(2.0 * rule.difference), math.log1p(-2.0 * rule.difference)
    for_first, for_second = wins * rise + losses * fall, losses * rise + wins * fall
    return _result(for_first, for_second, -max(for_first, for_second), wins + losses, rule)


def sequential_mean_test(differences: Float64Array, rule: SequentialRule) -> SequentialResult:
    """Test whether the mean difference of the rankers is 0, for differences of any size.

    Generalises `sequential_test`, whose differences are ±1. Each difference x is divided by the root mean
    square s of the earlier ones and of one difference of 1. L(d) is the product of 1 + 2d x / s; without a
    mean difference it is a martingale (Waudby-Smith and Ramdas 2024), as the likelihood ratio is. A mean of
    2d s or more, in either direction, is excluded by the same kind of product.

    Args:
        differences: (n,) differences in [-1, 1], in the order of their observation; positive where the first
            ranker is better.
        rule: Error probabilities and the smallest difference of interest.

    Example:
        >>> import numpy as np
        >>> sequential_mean_test(np.tile([0.3, 0.3, -0.3], 200), SequentialRule()).conclusion
        'first'
    """
    n = len(differences)
    squares = np.concatenate([[1.0], differences[:-1] ** 2]) if n else differences
    scales = np.minimum(np.sqrt(np.cumsum(squares) / np.arange(1, n + 1)), 1.0)
    mean = 2.0 * rule.difference
    # The upper limits keep each factor positive. For differences of ±1 they do not apply.
    bets = np.minimum(mean, max(mean, 0.9) * scales) * differences / scales
    against = np.minimum(mean / (1.0 - mean**2), 0.99 / (1.0 / scales - mean))
    excluded = min(
        float(np.log1p(-against * (sign * differences / scales - mean)).sum()) for sign in (1.0, -1.0)
    )
    return _result(float(np.log1p(bets).sum()), float(np.log1p(-bets).sum()), excluded, n, rule)


def _result(
    for_first: float, for_second: float, excluded: float, decided: int, rule: SequentialRule
) -> SequentialResult:
    """Return the state of a test.

    Args:
        for_first: Logarithm of the evidence that the first ranker is better.
        for_second: Logarithm of the evidence that the second ranker is better.
        excluded: Logarithm of the evidence against a difference of interest in either direction.
        rule: Error probabilities and the smallest difference of interest.
    """
    greater, smaller = max(for_first, for_second), min(for_first, for_second)
    mixture = greater + math.log1p(math.exp(smaller - greater)) - math.log(2.0)
    conclusion: Conclusion = "undecided"
    if mixture >= -math.log(rule.error):
        conclusion = "first" if for_first > for_second else "second"
    elif excluded >= -math.log(rule.miss):
        conclusion = "equal"
    needed = _needed(greater, excluded, decided, rule) if conclusion == "undecided" else None
    return SequentialResult(conclusion, math.exp(min(0.0, -mixture)), decided, needed)


def _needed(greater: float, excluded: float, decided: int, rule: SequentialRule) -> int:
    """Return the further units until the evidence, at its mean growth so far, reaches a bound."""
    evidence, bound = greater, math.log(2.0 / rule.error)
    if greater <= 0.0:
        evidence, bound = excluded, -math.log(rule.miss)
    if evidence < 1e-12 * max(decided, 1):
        return sample_size(rule)
    return max(1, math.ceil(bound * decided / evidence) - decided)


def winning_share(decided: int, rule: SequentialRule) -> float | None:
    """Return the smallest share of wins with which `sequential_test` calls the first ranker better.

    Args:
        decided: Number of units that prefer one of the rankers.
        rule: Error probabilities and the smallest difference of interest.

    Returns:
        The share, above one half; None if even a share of 1 is not enough.

    Example:
        >>> winning_share(500, SequentialRule()), winning_share(10, SequentialRule())
        (0.562, None)
    """
    wins = range(decided // 2 + 1, decided + 1)
    needed = bisect_left(
        wins, True, key=lambda w: sequential_test(w, decided - w, rule).conclusion == "first"
    )
    return wins[needed] / decided if needed < len(wins) else None


def sample_size(rule: SequentialRule) -> int:
    """Return the sample size of a test with a fixed number of decided units, (z_{error/2} + z_miss)² / 4d².

    The formula is the normal approximation of the sign test. The sequential test ends earlier on average if
    the difference is larger than d.

    Example:
        >>> sample_size(SequentialRule(error=0.05, miss=0.2, difference=0.05))
        785
    """
    from scipy.special import ndtri

    z = -float(ndtri(rule.error / 2.0)) - float(ndtri(rule.miss))
    return math.ceil(z * z / (4.0 * rule.difference**2))
