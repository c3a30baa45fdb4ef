"""Compute the verdict of an interleaving: the preferred ranker, the effect size and its significance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from core.evaluation.bootstrap import interval_of, merge_clusters, resampled_sums
from core.evaluation.comparison import listed
from core.evaluation.intervals import reported_interval
from core.interleaving.sequential import (
    Conclusion,
    SequentialRule,
    sequential_mean_test,
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
        preferring_first: Number of units that prefer the first ranker.
        first_share: Share of the first ranker, see `PairVerdict`.
        winning_share: Smallest share of units with which a ranker would be called better; None if no share
            is enough for so few units, or the test compares credits.
    """

    decided: int
    preferring_first: int
    first_share: float
    winning_share: float | None


@dataclass(frozen=True)
class PairVerdict:
    """Two rankers compared on the lists with a click.

    Attributes:
        second: Name of the second ranker.
        wins: Number of lists on which the first ranker has more credit.
        losses: Number of lists on which the second ranker has more credit.
        ties: Number of lists with a click and equal credit.
        delta: Δ = (wins + ½ ties) / all − ½ (Chapelle et al. 2012); half the mean credit difference per click
            where the test compares credits; None without lists.
        delta_lower: Lower end of the 95% interval of Δ, by bootstrap over users; a list without a user is
            resampled like one user. More than 20,000 users are resampled in groups.
        delta_upper: Upper end of the 95% interval of Δ. Both ends are None for fewer than eight users.
        decided: Number of units of the sequential test that prefer one ranker.
        preferring_first: Number of units that prefer the first ranker.
        first_share: Share of these units; ½ plus half their mean credit difference per click where the test
            compares credits; None without decided units.
        sign_p: Exact two-sided p-value of the sign test of these units, valid for a sample size fixed in
            advance; None where the test compares credits.
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
    first_share: float | None
    sign_p: float | None
    sequential_p: float
    conclusion: Conclusion
    needed: int | None
    path: tuple[Look, ...] = ()

    def evidence(self, unit: str) -> str:
        """Return the number of units and the bound of the p-value; a bound that rounds to 1 is left out."""
        units, bound = f"{self.decided:,} decided {unit}s", f"{self.sequential_p:.2g}"
        return units if bound == "1" else f"{units}, p ≤ {bound} at any time"


@dataclass(frozen=True)
class Verdict:
    """The verdict of an interleaving.

    Attributes:
        sentence: The verdict in a sentence, with numbers.
        winner: Name of the ranker that is better than all others, or None.
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
    clicks: Int64Array | None = None,
    unit: Unit = "user",
    seed: int = 0,
) -> Verdict:
    """Compare rankers by their credits on the lists with a click.

    With `clicks`, the test compares the credits per click. Without `clicks`, the test compares the numbers of
    units on which each ranker has more credit.

    Units of the sequential test must be independent. With `user`, a unit is the first list of each user on
    which the credits differ; each list without a user is a unit. With more than two rankers, the error is
    divided by the number of pairs (Bonferroni).

    Args:
        credits: (n_lists, n_rankers) credits, in the order in which the lists were shown.
        users: (n_lists,) users, None where unknown.
        rule: Error probabilities and the smallest difference of interest.
        clicks: (n_lists,) numbers of clicks; a click has a credit of at most 1.
        unit: Unit of the sequential test: `user`, or `list` to take all lists as independent.
    """
    user_indices = _user_indices(users)
    n = len(names)
    pair_rule = rule.of_each_pair(n)
    pairs = []
    for a, b in combinations(range(n), 2):
        differences = credits[:, a] - credits[:, b]
        differences[np.abs(differences) <= _TIE] = 0.0
        preferences = np.sign(differences) if clicks is None else differences / clicks
        pair = (names[a], names[b])
        pairs.append(_compare(pair, preferences, user_indices, pair_rule, unit, seed, by_sign=clicks is None))
    winner = next((name for name in names if sum(_wins(name, pair) for pair in pairs) == n - 1), None)
    sentence = ". ".join(_sentences(names, pairs, rule, unit)) + "."
    return Verdict(sentence, winner, len(credits), pairs)


def _user_indices(users: Sequence[str | None]) -> Int64Array:
    """Return the user index of each list, (n_lists,), from 0; unique for each list without a user."""
    indices: dict[object, int] = {}
    keys = (row if user is None else user for row, user in enumerate(users))
    return np.array([indices.setdefault(key, len(indices)) for key in keys], np.int64)


def _compare(
    names: tuple[str, str],
    preferences: Float64Array,
    users: Int64Array,
    rule: SequentialRule,
    unit: Unit,
    seed: int,
    *,
    by_sign: bool,
) -> PairVerdict:
    """Compare two rankers by preferences from -1 to 1, (n_lists,); `by_sign` if they are -1, 0 and 1 only."""
    wins, losses = int((preferences > 0).sum()), int((preferences < 0).sum())
    delta, lower, upper = _delta(preferences, users, seed)
    units = preferences[preferences != 0]
    if unit == "user":
        units = units[np.sort(np.unique(users[preferences != 0], return_index=True)[1])]
    preferring = int((units > 0).sum())
    opposing = len(units) - preferring
    if by_sign:
        test_result = sequential_test(preferring, opposing, rule)
    else:
        test_result = sequential_mean_test(units, rule)
    return PairVerdict(
        *names,
        wins,
        losses,
        len(preferences) - wins - losses,
        delta,
        lower,
        upper,
        test_result.decided,
        preferring,
        0.5 + 0.5 * float(units.mean()) if len(units) else None,
        sign_test(preferring, opposing) if by_sign else None,
        test_result.p,
        test_result.conclusion,
        test_result.needed,
        _path(units, rule, by_sign=by_sign),
    )


def _path(units: Float64Array, rule: SequentialRule, *, by_sign: bool) -> tuple[Look, ...]:
    """Return the states of the test at evenly spaced numbers of units, from the first unit to the last."""
    if not len(units):
        return ()
    preferring = np.cumsum(units > 0)
    shares = 0.5 + 0.5 * np.cumsum(units) / np.arange(1, len(units) + 1)
    numbers = np.unique(np.linspace(1, len(units), _LOOKS).astype(np.int64)).tolist()
    return tuple(
        Look(n, int(preferring[n - 1]), float(shares[n - 1]), winning_share(n, rule) if by_sign else None)
        for n in numbers
    )


def _delta(
    preferences: Float64Array, users: Int64Array, seed: int
) -> tuple[float | None, float | None, float | None]:
    """Return Δ and the ends of its interval."""
    if not len(preferences):
        return None, None, None
    clusters = merge_clusters(users)
    counts = np.bincount(clusters).astype(np.float64)
    sums = np.bincount(clusters, weights=preferences)
    has_lists = counts > 0
    columns = np.column_stack([sums, counts])[has_lists]
    drawn = resampled_sums(columns, resamples=_RESAMPLES, seed=seed)
    interval = interval_of(0.5 * drawn[:, 0] / drawn[:, 1], len(columns))
    return float(0.5 * preferences.mean()), *reported_interval(*interval)


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


def _sentences(
    names: Sequence[str], pairs: Sequence[PairVerdict], rule: SequentialRule, unit: Unit
) -> Iterator[str]:
    if len(names) > 2 and all(pair.first_share is None for pair in pairs):
        yield f"Undecided between {listed(names)}: no {unit} prefers any ranker yet"
        return
    for pair in pairs:
        if pair.first_share is None:
            yield f"Undecided between {pair.first} and {pair.second}: no {unit} prefers either ranker yet"
            continue
        share, by_credit = pair.first_share, pair.sign_p is None
        evidence = pair.evidence(unit)
        preferred = "with {:.1%} of the credit of" if by_credit else "preferred by {:.1%} of"
        if pair.conclusion == "first":
            yield f"{pair.first} is better than {pair.second}, {preferred.format(share)} {evidence}"
        elif pair.conclusion == "second":
            yield f"{pair.second} is better than {pair.first}, {preferred.format(1.0 - share)} {evidence}"
        elif pair.conclusion == "equal":
            excluded = f"a preference of {50.0 + 100.0 * rule.difference:.4g}% for either"
            if by_credit:
                excluded = f"a credit difference of {2.0 * rule.difference:.2g} standard deviations"
            yield (
                f"{pair.first} and {pair.second} are equal: {excluded} is excluded after"
                f" {pair.decided:,} decided {unit}s, with an error probability of at most"
                f" {100.0 * rule.miss:.4g}%"
            )
        else:
            more = f"about {pair.needed:,} more are needed"
            yield f"Undecided between {pair.first} ({share:.1%}) and {pair.second} after {evidence}; {more}"
