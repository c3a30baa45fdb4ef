"""Impressions with importance weights, weighted rewards and predicted clicks: the summands of estimates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.clicks.counterfactual.importance import (
    SlotEstimator,
    doubly_robust_values,
    importance_weights,
    logged_probabilities,
    weights_of_impressions_above,
)
from core.clicks.log import ClickLog
from core.errors import InvalidInput
from core.types import BoolArray, Float64Array, FloatArray, Int32Array, Int64Array

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


@dataclass(frozen=True)
class NewRanking:
    """A ranking to estimate.

    Attributes:
        ranks: (n_pairs,) rank from 1 of each pair of the log, 0 where it is not ranked.
        lengths: (n_queries,) number of ranked documents for each query of the log, 0 where it is not ranked.
    """

    name: str
    ranks: Int32Array
    lengths: Int32Array


@dataclass(frozen=True)
class Rows:
    """Contributions of the impressions of a log to an estimate, or of its lists for the estimator `slate`.

    Attributes:
        lists: (n_rows,) positions of lists.
        values: (n_rows,) weighted rewards.
        weights: Importance weight of each row. For the estimator `examination`, only of the clicks whose new
            rank counts in the metric.
        groups: (n_rows,) group of each row, within which weights are averaged for normalisation.
        normalised: Whether values are divided by the mean weight of their group.
        clipped: Share of the weights above 0 that were clipped.
        unsupported: Share of the ranking's metric weight without support in the log.
        zeros: Share that counts as 0 for lack of support or by clipping, since neither normalisation nor
            predictions replace it.
    """

    lists: Int64Array
    values: Float64Array
    weights: Float64Array
    groups: Int64Array
    normalised: bool
    clipped: float
    unsupported: float
    zeros: float

    def by_list(self) -> "Rows":
        """Return a row for each list, for an estimator with the same weight for all impressions of a list."""
        lists, first, row_lists = np.unique(self.lists, return_index=True, return_inverse=True)
        values = np.bincount(row_lists, self.values, len(lists)).astype(np.float64)
        return replace(
            self, lists=lists, values=values, weights=self.weights[first], groups=self.groups[first]
        )


def logged_rows(log: ClickLog, by_rank: Float64Array) -> Rows:
    """Return the rewards of the logged ranking times the weights of ranks, all with importance weight 1."""
    top = log.up_to_rank(len(by_rank))
    values = top.rewards * by_rank[top.ranks.astype(np.int64) - 1]
    return _rows(top, values, np.ones(len(values)))


def slot_rows(
    log: ClickLog,
    ranking: NewRanking,
    by_rank: Float64Array,
    estimator: SlotEstimator,
    *,
    normalised: bool = False,
    clip: float | None = None,
) -> Rows:
    """Return the impressions at the metric's ranks, weighted by inverse logged propensities.

    The new ranking is deterministic: π_new is 1 where it has the logged document at the rank, else 0. For
    `slate`, the list ends at the metric's last rank.

    Raises:
        InvalidInput: The log has no propensities, or a propensity is not in (0, 1].
    """
    top = log.up_to_rank(len(by_rank))
    shown = (ranking.ranks[top.pairs] == top.ranks).astype(np.float64)
    ratios = shown / logged_probabilities(top.propensities)
    unclipped = importance_weights(estimator, ratios, top.list_boundaries)
    weights, clipped = _clipped(unclipped, clip)
    if estimator == "slate":  # the impressions of a list share its weight
        starts = top.list_boundaries[:-1][np.diff(top.list_boundaries) > 0]
        clipped = _clipped(unclipped[starts], clip)[1]
    rank_indices = top.ranks.astype(np.int64) - 1
    rewards = top.rewards * by_rank[rank_indices]
    values = rewards * weights
    if estimator == "cascade_doubly_robust":
        predicted = predicted_rewards(top, ranking.ranks, by_rank)
        weights_above = weights_of_impressions_above(weights, top.list_boundaries)
        values = doubly_robust_values(rewards, weights, weights_above, predicted.shown, predicted.expected)
    supported = np.zeros((len(log.query_ids), len(by_rank)), bool)
    is_weighted = weights > 0.0
    supported[top.pair_queries[top.pairs[is_weighted]], rank_indices[is_weighted]] = True
    replaced, lost = supported, _removed_by_clipping(values, rewards * unclipped)
    if normalised or estimator == "cascade_doubly_robust":
        replaced, lost = supported | supported.any(axis=0), 0.0  # by other queries at the same rank
    rows = replace(
        _rows(top, values, weights),
        normalised=normalised,
        clipped=clipped,
        unsupported=_unsupported(log, ranking, by_rank, supported),
        zeros=_zeros(_unsupported(log, ranking, by_rank, replaced), lost),
    )
    return rows.by_list() if estimator == "slate" else replace(rows, groups=rank_indices)


def examination_rows(
    log: ClickLog,
    ranking: NewRanking | None,
    by_rank: Float64Array,
    examination: Sequence[float],
    clip: float | None = None,
) -> Rows:
    """Return clicks with the values click · weight(new rank) / p, for p the mean examination of the document.

    The mean is over all lists of the query. A list that does not show the document counts as 0. This is the
    policy-aware propensity of Oosterhuis and de Rijke (2020). Without a ranking, the new rank is the old
    rank, and p its examination.

    Raises:
        InvalidInput: A clicked rank has no examination probability, or a probability is not in (0, 1].
    """
    clicked = log.rewards > 0.0
    old, pairs = log.ranks[clicked].astype(np.int64), log.pairs[clicked]
    last = int(old.max(initial=0))
    if len(examination) < last or not all(0.0 < p <= 1.0 for p in examination):
        raise InvalidInput.at(
            "/examination",
            f"must give a probability in (0, 1] for each rank from 1 to {last}, the last one with a click; a"
            f" propensity job needs {last} positions",
        )
    by_old_rank = np.asarray(examination, np.float64)
    lists = log.list_of_impression[clicked]
    if ranking is None:
        new, examined, unsupported = old, by_old_rank[old - 1], 0.0
    else:
        of_pairs = _mean_examination(log, by_old_rank)
        new, examined = ranking.ranks[pairs].astype(np.int64), of_pairs[pairs]
        supported_pairs = np.flatnonzero(
            (of_pairs > 0.0) & (ranking.ranks > 0) & (ranking.ranks <= len(by_rank))
        )
        supported = np.zeros((len(log.query_ids), len(by_rank)), bool)
        supported[log.pair_queries[supported_pairs], ranking.ranks[supported_pairs] - 1] = True
        unsupported = _unsupported(log, ranking, by_rank, supported)
    weights, clipped = _clipped(1.0 / examined, clip)
    worth = np.concatenate([[0.0], by_rank])[np.where(new <= len(by_rank), new, 0)]
    rewards = log.rewards[clicked] * worth
    values = rewards * weights
    zeros = _zeros(unsupported, _removed_by_clipping(values, rewards / examined))
    groups = np.zeros(len(lists), np.int64)
    return Rows(lists, values, weights[worth > 0.0], groups, False, clipped, unsupported, zeros)


def _mean_examination(log: ClickLog, examination: Float64Array) -> Float64Array:
    """Return the (n_pairs,) mean examination of each document over the lists of its query."""
    by_rank = np.append(examination, 0.0)  # ranks without a probability count as not examined
    examined = by_rank[np.minimum(log.ranks.astype(np.int64), len(by_rank)) - 1]
    sums = np.bincount(log.pairs, examined, log.n_pairs)
    lists = np.bincount(log.list_queries, minlength=len(log.query_ids))
    return np.asarray(sums / np.maximum(1, lists[log.pair_queries]), np.float64)


def _rows(log: ClickLog, values: Float64Array, weights: Float64Array) -> Rows:
    groups = np.zeros(len(values), np.int64)
    return Rows(log.list_of_impression, values, weights, groups, False, 0.0, 0.0, 0.0)


def _clipped(weights: Float64Array, clip: float | None) -> tuple[Float64Array, float]:
    if clip is None:
        return weights, 0.0
    over = int((weights > clip).sum())
    return np.minimum(weights, clip), over / max(1, int((weights > 0.0).sum()))


def _removed_by_clipping(values: Float64Array, unclipped: Float64Array) -> float:
    """Return the share of the sum of values that clipping removed."""
    total = float(unclipped.sum())
    return 1.0 - float(values.sum()) / total if total else 0.0


def _zeros(unsupported: float, lost: float) -> float:
    return 1.0 - (1.0 - unsupported) * (1.0 - lost)


def _unsupported(log: ClickLog, ranking: NewRanking, by_rank: Float64Array, supported: BoolArray) -> float:
    lists = np.bincount(log.list_queries, minlength=len(log.query_ids))
    ranked = np.arange(len(by_rank)) < ranking.lengths[:, None]
    weight = lists[:, None] * ranked * by_rank
    total = float(weight.sum())
    return float((weight * ~supported).sum()) / total if total else 1.0


def join_scores(
    name: str,
    log: ClickLog,
    query_ids: Sequence[str],
    document_ids: Sequence[str],
    query_boundaries: Int64Array,
    scores: FloatArray,
) -> NewRanking:
    """Return the ranking of a log's pairs by descending score; ties keep their order.

    A document that occurs several times in a query has its best rank.

    Args:
        query_ids: (n_queries,) ids of queries.
        document_ids: (n_documents,) ids of documents.
        query_boundaries: (n_queries + 1,) offsets.
        scores: (n_documents,) scores; NaN for documents that are not ranked.
    """
    lengths = np.diff(query_boundaries)
    queries = np.repeat(np.arange(len(query_ids)), lengths)
    ranked = ~np.isnan(scores)
    # Documents that are not ranked come last and are dropped below.
    order = np.lexsort((-np.where(ranked, scores, -np.inf), ~ranked, queries))
    ranks = np.empty(len(scores), np.int64)
    ranks[order] = np.arange(len(scores)) - np.repeat(query_boundaries[:-1], lengths) + 1
    pairs = log.pairs_of(query_ids, document_ids, query_boundaries)
    joined = np.flatnonzero(ranked & (pairs >= 0))
    # Of copies of a document, the best rank is written last and remains.
    worst_first = joined[np.argsort(-ranks[joined])]
    ranks_of_pairs = np.zeros(log.n_pairs, np.int32)
    ranks_of_pairs[pairs[worst_first]] = ranks[worst_first]
    counts = dict(
        zip(query_ids, np.bincount(queries[ranked], minlength=len(query_ids)).tolist(), strict=True)
    )
    lengths_in_log = np.array([counts.get(query, 0) for query in log.query_ids], np.int32)
    return NewRanking(name, ranks_of_pairs, lengths_in_log)
