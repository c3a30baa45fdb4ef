"""Compute the verdict of an interleaving: the preferred ranker, the effect size and its significance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.evaluation.bootstrap import interval_of, merge_clusters, resampled_sums
from core.evaluation.intervals import reported_interval
from core.interleaving.sequential import (
    Conclusion,
    SequentialRule,
    sequential_test,
    winning_share,
)
from core.types import Float64Array, Int64Array

Unit = Literal["user", "list"]
_RESAMPLES = 2_000
_LOOKS = 50
_TIE = 1e-9  # tolerance of equal credits, which are sums of fractions


@dataclass(frozen=True)
class Look:
    """The state of a sequential test after a number of decided units.

    Attributes:
        decided: Number of decided units so far.
        preferring_first: Number of units that prefer the first ranker.
        winning_share: Smallest share of units with which a ranker would be called better; None if no share
            is enough for so few units.
    """

    decided: int
    preferring_first: int
    winning_share: float | None


@dataclass(frozen=True)
class PairVerdict:
    """Two rankers compared on the lists with a click.

    Attributes:
        first: Name of the first ranker.
        second: Name of the second ranker.
        wins: Number of lists on which the first ranker has more credit.
        losses: Number of lists on which the second ranker has more credit.
        ties: Number of lists with a click and equal credit.
        delta: Δ = (wins + ½ ties) / all − ½ (Chapelle et al. 2012), None without lists.
        delta_lower: Lower end of the 95% interval of Δ, by bootstrap over users; a list without a user is
            resampled like one user. More than 20,000 users are resampled in groups.
        delta_upper: Upper end of the 95% interval of Δ. Both ends are None for one user.
        decided: Number of units of the sequential test that prefer one ranker.
        preferring_first: Number of units that prefer the first ranker.
        sign_p: Exact two-sided p-value of the sign test of these units, valid for a sample size fixed in
            advance.
        sequential_p: Upper bound of the p-value, valid at any time.
        conclusion: `first` or `second` is better, `equal`, or `undecided`.
        needed: Estimated number of further decided units that an undecided test needs.
        path: States of the test at up to 50 numbers of decided units, the last with all units; empty without
            decided units.
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    delta: float | None
    delta_lower: float | None
    delta_upper: float | None
    decided: int
    preferring_first: int
    sign_p: float
    sequential_p: float
    conclusion: Conclusion
    needed: int | None
    path: tuple[Look, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The verdict of an interleaving.

    Attributes:
        sentence: The verdict in a sentence, with numbers.
        winner: Name of the ranker that is better than all others, or None.
        clicked_lists: Lists with a click.
        pairs: All pairs of rankers.
    """

    sentence: str
    winner: str | None
    clicked_lists: int
    pairs: list[PairVerdict]


def verdict(
    names: Sequence[str],
    credits: Float64Array,
    users: Sequence[str | None],
    rule: SequentialRule,
    *,
    unit: Unit = "user",
    seed: int = 0,
) -> Verdict:
    """Compare rankers by their credits on the lists with a click.

    Units of the sequential test must be independent. With `user`, a unit is the first list of each user on
    which the credits differ; each list without a user is a unit. With more than two rankers, the error is
    divided by the number of pairs (Bonferroni).

    Args:
        names: Names of the rankers.
        credits: (n_lists, n_rankers) credits, in the order in which the lists were shown.
        users: (n_lists,) users, None where unknown.
        rule: Error probabilities and the smallest difference of interest.
        unit: Unit of the sequential test: `user`, or `list` to take all lists as independent.
        seed: Seed of the bootstrap.
    """
    numbers = _numbers_of(users)
    n = len(names)
    pair_rule = rule.of_each_pair(n)
    pairs = [
        _compare((names[a], names[b]), _signs(credits, a, b), numbers, pair_rule, unit, seed)
        for a in range(n)
        for b in range(a + 1, n)
    ]
    winner = next((name for name in names if sum(_wins(name, pair) for pair in pairs) == n - 1), None)
    sentence = ". ".join(_sentences(pairs, rule, unit)) + "."
    return Verdict(sentence, winner, len(credits), pairs)


def _numbers_of(users: Sequence[str | None]) -> Int64Array:
    """Return the user number of each list, (n_lists,), from 0; unique for each list without a user."""
    numbers: dict[object, int] = {}
    keys = (index if user is None else user for index, user in enumerate(users))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _signs(credits: Float64Array, a: int, b: int) -> npt.NDArray[np.int8]:
    difference = credits[:, a] - credits[:, b]
    return np.where(np.abs(difference) <= _TIE, 0, np.sign(difference)).astype(np.int8)


def _compare(
    names: tuple[str, str],
    signs: npt.NDArray[np.int8],
    users: Int64Array,
    rule: SequentialRule,
    unit: Unit,
    seed: int,
) -> PairVerdict:
    wins, losses = int((signs > 0).sum()), int((signs < 0).sum())
    delta, lower, upper = _delta(signs, users, seed)
    units = signs[signs != 0]
    if unit == "user":
        units = units[np.sort(np.unique(users[signs != 0], return_index=True)[1])]
    preferring = int((units > 0).sum())
    test_result = sequential_test(preferring, len(units) - preferring, rule)
    return PairVerdict(
        *names,
        wins,
        losses,
        len(signs) - wins - losses,
        delta,
        lower,
        upper,
        test_result.decided,
        preferring,
        sign_test(preferring, len(units) - preferring),
        test_result.p,
        test_result.conclusion,
        test_result.needed,
        _path(units, rule),
    )


def _path(units: npt.NDArray[np.int8], rule: SequentialRule) -> tuple[Look, ...]:
    """Return the states of the test at evenly spaced numbers of units, from the first unit to the last."""
    if not len(units):
        return ()
    preferring = np.cumsum(units > 0)
    numbers = np.unique(np.linspace(1, len(units), _LOOKS).astype(np.int64)).tolist()
    return tuple(Look(n, int(preferring[n - 1]), winning_share(n, rule)) for n in numbers)


def _delta(
    signs: npt.NDArray[np.int8], users: Int64Array, seed: int
) -> tuple[float | None, float | None, float | None]:
    """Return Δ and the ends of its interval."""
    if not len(signs):
        return None, None, None
    clusters = merge_clusters(users)
    counts = np.bincount(clusters).astype(np.float64)
    sums = np.bincount(clusters, weights=signs.astype(np.float64))
    has_lists = counts > 0
    columns = np.column_stack([sums, counts])[has_lists]
    drawn = resampled_sums(columns, resamples=_RESAMPLES, seed=seed)
    interval = interval_of(0.5 * drawn[:, 0] / drawn[:, 1], len(columns))
    return float(0.5 * signs.mean()), *reported_interval(*interval)


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided exact p-value of wins against losses, min(1, 2 P(X ≤ min)), X ~ B(n, ½).

    Example:
        >>> round(sign_test(9, 1), 4), sign_test(0, 0)
        (0.0215, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def _wins(name: str, pair: PairVerdict) -> bool:
    return (name, pair.conclusion) in ((pair.first, "first"), (pair.second, "second"))


def _sentences(pairs: Sequence[PairVerdict], rule: SequentialRule, unit: Unit) -> Iterator[str]:
    for pair in pairs:
        if not pair.decided:
            yield f"Undecided between {pair.first} and {pair.second}: no {unit} prefers either ranker yet"
            continue
        share = pair.preferring_first / pair.decided
        evidence = f"{pair.decided:,} decided {unit}s, p ≤ {pair.sequential_p:.2g} at any time"
        if pair.conclusion == "first":
            yield f"{pair.first} is better than {pair.second}, preferred by {share:.1%} of {evidence}"
        elif pair.conclusion == "second":
            yield f"{pair.second} is better than {pair.first}, preferred by {1.0 - share:.1%} of {evidence}"
        elif pair.conclusion == "equal":
            limit = f"{0.5 + rule.difference:.0%}"
            yield (
                f"{pair.first} and {pair.second} are equal: a preference of {limit} for either is excluded"
                f" after {evidence}"
            )
        else:
            more = f"about {pair.needed:,} more are needed"
            yield f"Undecided between {pair.first} ({share:.1%}) and {pair.second} after {evidence}; {more}"
