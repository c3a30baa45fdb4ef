"""Optimised interleaving: the most sensitive of all fair distributions of lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.errors import InvalidInput
from core.interleaving.lists import Draw, InterleavedList, Ranking, ranks_of
from core.types import Float64Array

MAX_LISTS = 64  # a linear programme of this size takes about two milliseconds
DEPTH = 6  # optimised ranks of two rankings: at most 2^6 lists


@dataclass(frozen=True)
class ListDistribution:
    """Probabilities of the lists that may be shown.

    Attributes:
        lists: (n_lists, depth) documents of the lists, best first; shorter lists if the rankings end.
        probabilities: (n_lists,) probabilities, which sum to 1.
    """

    lists: list[tuple[int, ...]]
    probabilities: Float64Array


def optimised(rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Draw a list with the probabilities of `list_distribution`.

    A click adds 1/rank to the credit of each ranker, with the rank of the document in its ranking. The
    distribution is for the first six ranks of lists and rankings; a document below them in a ranking has rank
    seven for the credit. Below the first six ranks of a list, the rankings alternate, without credit. If a
    ranking has fewer than six documents, the same holds for its length, since no distribution is fair below.

    Args:
        length: Largest number of documents to show.
    """
    depth = min(length, DEPTH, *map(len, rankings))
    distribution = _cached_distribution(tuple(tuple(ranking[:depth]) for ranking in rankings), depth)
    top = list(distribution.lists[draw(distribution.probabilities.tolist())])
    rest = [d for same_rank in zip(*rankings, strict=False) for d in same_rank]
    rest += [d for ranking in rankings for d in ranking]
    documents = list(dict.fromkeys([*top, *rest]))[:length]
    ranks = ranks_of(documents, [ranking[:depth] for ranking in rankings])
    shares = [[1.0 / rank if index < len(top) else 0.0 for index, rank in enumerate(row)] for row in ranks]
    return InterleavedList(documents, [-1] * len(documents), shares, ranks_of(documents, rankings))


def prefix_lists(rankings: Sequence[Ranking], depth: int) -> list[tuple[int, ...]]:
    """Return all lists that result from repeatedly adding the best unused document of any ranking."""
    lists: dict[tuple[int, ...], None] = {(): None}
    for _ in range(depth):
        longer: dict[tuple[int, ...], None] = {}
        for prefix in lists:
            candidates = [next((d for d in ranking if d not in prefix), None) for ranking in rankings]
            longer |= dict.fromkeys((*prefix, document) for document in candidates if document is not None)
        if not longer:
            break
        lists = longer
    return list(lists)


def list_distribution(rankings: Sequence[Ranking], depth: int) -> ListDistribution:
    """Return the list probabilities with the least expected variance of all that are fair at every cut.

    The probabilities p minimise Σ_L p_L v_L, with Σ p = 1 and, for each cut k, equal Σ_L p_L Σ_{j≤k}
    1/rank_r(L_j) for all rankers r. v_L is the sum over rankers of the squared distance of the ranker's
    expected credit from the rankers' mean. Rank j is clicked with probability 1/j (Radlinski and Craswell
    2013; variance as in Schuth et al. 2014).

    Args:
        rankings: Two or more rankings.

    Raises:
        InvalidInput: There are more than 64 lists, or no distribution is fair, which is possible with
            three or more rankers.

    Example:
        >>> list_distribution([[1, 2], [2, 3]], 2).probabilities.round(3).tolist()
        [0.429, 0.371, 0.2]
    """
    lists = prefix_lists(rankings, depth)
    if len(lists) > MAX_LISTS:
        raise InvalidInput.at(
            "/length",
            f"{len(lists)} lists of {depth} documents are possible; at most {MAX_LISTS} can be optimised",
        )
    click_credits = np.array(
        [[[1.0 / r for r in row] for row in ranks_of(documents, rankings)] for documents in lists]
    )
    cuts = np.cumsum(click_credits, axis=2)
    credit_differences = np.concatenate(list((cuts[:, :-1] - cuts[:, 1:]).transpose(1, 2, 0)))
    expected_credits = (click_credits / np.arange(1, click_credits.shape[2] + 1)).sum(axis=2)
    variances = ((expected_credits - expected_credits.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return ListDistribution(lists, _solve(variances, credit_differences))


def _solve(variances: Float64Array, credit_differences: Float64Array) -> Float64Array:
    from scipy.optimize import linprog

    equations = np.vstack([np.ones((1, len(variances))), credit_differences])
    right_side = np.concatenate([[1.0], np.zeros(len(credit_differences))])
    solution = linprog(variances, A_eq=equations, b_eq=right_side, method="highs")
    if not solution.success:
        raise InvalidInput.at(
            "/rankers",
            "no distribution of lists gives the rankers equal credit at each cutoff; use another method",
        )
    probabilities = np.maximum(solution.x, 0.0)
    return np.asarray(probabilities / probabilities.sum(), np.float64)


@lru_cache(maxsize=4_096)
def _cached_distribution(rankings: tuple[tuple[int, ...], ...], depth: int) -> ListDistribution:
    return list_distribution(rankings, depth)
