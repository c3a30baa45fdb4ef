"""A sequential test of two rankers that may be looked at as often as one likes, and its sample size."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

from core.errors import InputProblem, InvalidInput

Conclusion = Literal["first", "second", "equal", "undecided"]


@dataclass(frozen=True)
class SequentialRule:
    """The rule that ends an experiment.

    Attributes:
        error: Largest probability to name a better ranker where there is none, over all looks; in (0, 0.5).
        miss: Largest probability to call rankers equal that differ by `difference`; in (0, 0.5).
        difference: Smallest difference of interest: by how much the share of decided units that prefer the
            better ranker exceeds one half; in (0, 0.5).

    Raises:
        InvalidInput: When a number is out of its range.
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


@dataclass(frozen=True)
class SequentialResult:
    """The state of a sequential test.

    Attributes:
        conclusion: Which ranker is better, `equal` where a difference as large as the rule's is excluded, or
            `undecided`.
        p: Bound of the p-value that holds at any time.
        decided: Units that prefer one of the rankers.
        needed: Estimate of the further units that an undecided test needs, if the share stays as it is; None
            for other tests.
    """

    conclusion: Conclusion
    p: float
    decided: int
    needed: int | None


def sequential_test(wins: int, losses: int, rule: SequentialRule) -> SequentialResult:
    """Test whether decided units prefer the first ranker with probability ½.

    L(d) = (1 + 2d)^wins (1 − 2d)^losses is the likelihood ratio of ½ + d to ½. The test is the mixture
    ½ L(d) + ½ L(−d) at the smallest difference of interest d. Without a difference it exceeds 1/error with
    probability at most `error` at any time (Wald 1945; Ville 1939), so p = 1 / mixture holds at each look.
    Where L(d) and L(−d) are both below `miss`, a difference of d or more is excluded.

    Args:
        wins: Units that prefer the first ranker.
        losses: Units that prefer the second.
        rule: Error probabilities and the smallest difference of interest.

    Example:
        >>> sequential_test(300, 200, SequentialRule()).conclusion
        'first'
        >>> sequential_test(500, 500, SequentialRule()).conclusion
        'equal'
    """
    rise, fall = math.log1p(2.0 * rule.difference), math.log1p(-2.0 * rule.difference)
    for_first, for_second = wins * rise + losses * fall, losses * rise + wins * fall
    greater, smaller = max(for_first, for_second), min(for_first, for_second)
    mixture = greater + math.log1p(math.exp(smaller - greater)) - math.log(2.0)
    conclusion: Conclusion = "undecided"
    if mixture >= -math.log(rule.error):
        conclusion = "first" if wins > losses else "second"
    elif greater <= math.log(rule.miss):
        conclusion = "equal"
    decided = wins + losses
    needed = _needed(wins, losses, rule) if conclusion == "undecided" else None
    return SequentialResult(conclusion, min(1.0, math.exp(-mixture)), decided, needed)


def _needed(wins: int, losses: int, rule: SequentialRule) -> int:
    """Return how long the log likelihood ratio takes to a bound at its present slope."""
    rise, fall = math.log1p(2.0 * rule.difference), math.log1p(-2.0 * rule.difference)
    decided = wins + losses
    share = max(wins, losses) / decided if decided else 0.5 + rule.difference
    slope = share * rise + (1.0 - share) * fall
    bound = math.log(2.0 / rule.error) if slope > 0.0 else math.log(rule.miss)
    if abs(slope) < 1e-12:
        return sample_size(rule)
    return max(1, math.ceil(bound / slope) - decided)


def winning_share(decided: int, rule: SequentialRule) -> float | None:
    """Return the smallest share of wins with which `sequential_test` calls the first ranker better.

    Args:
        decided: Units that prefer one of the rankers.
        rule: Error probabilities and the smallest difference of interest.

    Returns:
        The share, above one half; None where all wins would not be enough.

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
    """Return the decided units of a test with a fixed number, (z_{error/2} + z_miss)² / 4d².

    The normal approximation of the sign test. The sequential test ends earlier on average where the
    difference is larger than d.

    Example:
        >>> sample_size(SequentialRule(error=0.05, miss=0.2, difference=0.05))
        785
    """
    from scipy.special import ndtri

    z = -float(ndtri(rule.error / 2.0)) - float(ndtri(rule.miss))
    return math.ceil(z * z / (4.0 * rule.difference**2))
