"""Predicted clicks on new rankings, for the doubly robust estimate."""

from dataclasses import dataclass

import numpy as np

from core.clicks.log import BoolArray, ClickLog
from core.types import Float64Array, Int32Array

_PRIOR_CLICKS = 1.0  # pseudo-count that shrinks attractiveness to 1, the mean of the log
_FOLDS = 2


@dataclass(frozen=True)
class PredictedRewards:
    """Predicted rewards from each rank on.

    Attributes:
        shown: (n_impressions,) rewards with the logged document at this rank and the new ranking below it.
        expected: (n_impressions,) rewards with the new ranking at this rank and below it.
    """

    shown: Float64Array
    expected: Float64Array


def predicted_rewards(log: ClickLog, new_ranks: Int32Array, by_rank: Float64Array) -> PredictedRewards:
    """Predict the rewards of each list from click rates of ranks and documents.

    The reward of document d at rank r is weight(r) · ctr(r) · a(d). The attractiveness of d,
    a(d) = (Σ rewards + 1) / (Σ ctr(rank) + 1), is the shrunken ratio of clicks to expected clicks. The rates
    for a list are estimated on the other half of the lists, so that no list predicts its own clicks.

    Args:
        log: Lists of at most `len(by_rank)` ranks.
        new_ranks: (n_pairs,) rank of each pair in the new ranking, 0 where absent.
        by_rank: (k,) weights of the ranks.
    """
    lists, rewards = log.list_of_impression, log.rewards
    folds = lists % _FOLDS
    shown, expected = np.zeros(log.n_impressions), np.zeros(log.n_impressions)
    for fold in range(_FOLDS):
        estimation, prediction = folds != fold, folds == fold
        attractiveness, rates = _rates(log, rewards, estimation, len(by_rank))
        tails = _tails(log, new_ranks, attractiveness, by_rank * rates)
        ranks, queries = log.ranks[prediction].astype(np.int64), log.list_queries[lists[prediction]]
        below = tails[queries, ranks]
        shown[prediction] = (by_rank * rates)[ranks - 1] * attractiveness[log.pairs[prediction]] + below
        expected[prediction] = tails[queries, ranks - 1]
    return PredictedRewards(shown, expected)


def _rates(
    log: ClickLog, rewards: Float64Array, is_used: BoolArray, depth: int
) -> tuple[Float64Array, Float64Array]:
    """Return attractiveness of pairs, (n_pairs,), and click rates of ranks, (k,), from some impressions."""
    rank_indices = log.ranks[is_used].astype(np.int64) - 1
    seen = np.bincount(rank_indices, minlength=depth)
    rates = np.bincount(rank_indices, weights=rewards[is_used], minlength=depth) / np.maximum(seen, 1)
    clicks = np.bincount(log.pairs[is_used], weights=rewards[is_used], minlength=log.n_pairs)
    expected = np.bincount(log.pairs[is_used], weights=rates[rank_indices], minlength=log.n_pairs)
    return (clicks + _PRIOR_CLICKS) / (expected + _PRIOR_CLICKS), rates


def _tails(
    log: ClickLog, new_ranks: Int32Array, attractiveness: Float64Array, by_rank: Float64Array
) -> Float64Array:
    """Return (n_queries, k + 1) predicted rewards of the new ranking from each rank on."""
    table = np.zeros((len(log.query_ids), len(by_rank) + 1))
    table[:, :-1] = by_rank
    ranked = np.flatnonzero((new_ranks > 0) & (new_ranks <= len(by_rank)))
    rank_indices = new_ranks[ranked] - 1
    table[log.pair_queries[ranked], rank_indices] = by_rank[rank_indices] * attractiveness[ranked]
    return np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
