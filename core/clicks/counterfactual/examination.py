"""Spread of estimates by `examination` due to the errors of its estimated probabilities."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from core.clicks.counterfactual.rows import NewRanking
from core.clicks.log import ClickLog
from core.types import Float64Array

_PAIRS_PER_CHUNK = 1_000  # a chunk takes 8 MB for 1,000 draws


def examination_changes(
    log: ClickLog,
    ranking: NewRanking | None,
    by_rank: Float64Array,
    examination: Sequence[float],
    errors: Sequence[float],
    *,
    clip: float | None,
    draws: int,
    seed: int,
) -> Float64Array:
    """Return the change of an estimate for draws of the examination probabilities, (draws,).

    A draw multiplies each probability p by exp(e z), for z from a normal distribution. Draws of a seed are
    the same for all rankings, so that differences of rankings are paired. Errors of ranks count as
    independent.

    Args:
        ranking: New ranking, None for the logged one.
        by_rank: (k,) weight of a click at each rank.
        examination: Examination probability p of each rank from 1.
        errors: Standard error e of ln p of each rank.
        clip: Largest weight, None for no limit.
    """
    normal = np.random.default_rng([seed, 1]).standard_normal((draws, len(examination)))
    drawn = np.asarray(examination) * np.exp(normal * np.asarray(errors))
    probabilities = np.vstack([np.asarray(examination), drawn])
    sums, shares = _clicks_and_shares(log, ranking, by_rank, len(examination))
    estimates = np.zeros(len(probabilities))
    for first in range(0, len(sums), _PAIRS_PER_CHUNK):
        part = slice(first, first + _PAIRS_PER_CHUNK)
        weights = 1.0 / (shares[part] @ probabilities.T)
        estimates += sums[part] @ (weights if clip is None else np.minimum(weights, clip))
    changes: Float64Array = (estimates[1:] - estimates[0]) / log.n_lists
    return changes


def _clicks_and_shares(
    log: ClickLog, ranking: NewRanking | None, by_rank: Float64Array, n_ranks: int
) -> tuple[Float64Array, sparse.csr_array]:
    """Return the weighted clicks of each pair, or of each rank for the logged ranking, and shares of lists.

    Returns:
        (n,) sums of reward times weight at the new rank; and (n, n_ranks) shares of the lists of the query
        that show the document at each rank. Shares times probabilities are the examination of the pair. For
        the logged ranking, n is the number of ranks, and each rank is examined with its own probability.
    """
    worth = np.concatenate([[0.0], by_rank, [0.0]])
    ranks = np.minimum(log.ranks, n_ranks + 1).astype(np.int64)
    if ranking is None:
        rewards = log.rewards * worth[np.minimum(log.ranks, len(by_rank) + 1)]
        by_old_rank = np.bincount(ranks, rewards, n_ranks + 2)[1:-1].astype(np.float64)
        return by_old_rank, sparse.eye_array(n_ranks, format="csr")
    of_pairs = np.bincount(log.pairs, log.rewards, log.n_pairs).astype(np.float64)
    sums = of_pairs * worth[np.minimum(ranking.ranks, len(by_rank) + 1)]
    pairs = np.flatnonzero(sums)
    rows = np.full(log.n_pairs, -1)
    rows[pairs] = np.arange(len(pairs))
    shown = (rows[log.pairs] >= 0) & (ranks <= n_ranks)
    lists = np.bincount(log.list_queries, minlength=len(log.query_ids))[log.pair_queries]
    shares = sparse.csr_array(
        (1.0 / lists[log.pairs[shown]], (rows[log.pairs[shown]], ranks[shown] - 1)), (len(pairs), n_ranks)
    )
    return sums[pairs], shares
