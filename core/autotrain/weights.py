"""Weights of a sum of candidates, by the order of document pairs in their held-out scores.

On few queries, a metric of the top ranks depends on a few documents. RankNet's loss depends on all pairs, and
is convex in the weights. Non-negative weights for held-out predictions: Breiman 1996, "Stacked regressions".
"""

from functools import cached_property

import numpy as np

from core.data import RankingDataset
from core.losses.base import Objective
from core.losses.ranknet import RankNet
from core.training.weights import deviations_within_queries
from core.types import BoolArray, Float64Array, Int64Array

_MAX_QUERIES = 2000  # random queries to fit the weights to; more hardly change them
# Pairs of these queries, whose number grows with the square of a query's documents; and queries in any case.
_MAX_PAIRS, _MIN_QUERIES = 3_000_000, 100
_LEAST_WEIGHT = _LEAST_DEVIATION = 1e-6  # less than rounding errors of scores that hardly differ
_PENALTY = 0.01  # of the sum of squared weights; without it, separable pairs have no finite weights


class PairLoss:
    """RankNet's loss of weighted sums of scores.

    The scores of a query are divided by the mean of their deviations over the candidates, and its loss by
    that of equal scores. Each query therefore has the same influence, whatever its scale and pairs.

    Args:
        scores: float64 (n_candidates, repetitions, n_documents) held-out scores on comparable scales; NaN
            where a repetition did not hold a query out, but at least one did.
    """

    def __init__(self, dataset: RankingDataset, scores: Float64Array) -> None:
        self._n_queries, (n_candidates, self._repetitions, _) = dataset.n_queries, scores.shape
        pairs = _pairs_of_queries(dataset)
        drawn = np.random.default_rng(0).permutation(self._n_queries)[:_MAX_QUERIES]
        is_small = np.cumsum(pairs[drawn]) * self._repetitions <= _MAX_PAIRS
        self._drawn = np.sort(drawn[is_small | (np.arange(len(drawn)) < _MIN_QUERIES)])
        is_drawn = np.isin(np.arange(self._n_queries), self._drawn)
        rows = np.repeat(is_drawn, np.diff(dataset.query_boundaries))
        queries = dataset.select_queries(self._drawn)
        self._labels = np.tile(queries.labels, self._repetitions)
        lengths = np.tile(np.diff(queries.query_boundaries), self._repetitions)
        self._boundaries: Int64Array = np.concatenate([[0], np.cumsum(lengths)])
        scores = scores[..., rows]
        # One divisor for all candidates keeps the order of a query. Without it, a few queries with large
        # scores outweigh the others, because the loss is linear in large margins.
        deviations = deviations_within_queries(scores, queries.query_boundaries).mean(axis=0)
        scales = np.maximum(deviations, _LEAST_DEVIATION)
        scores = scores / np.repeat(scales, np.diff(queries.query_boundaries), axis=-1)
        self._scores = np.nan_to_num(scores.reshape(n_candidates, -1))
        is_held_out = ~np.isnan(scores[0][:, queries.query_boundaries[:-1]])
        self._has_pairs = pairs[self._drawn] > 0
        loss_of_equal_scores = np.where(self._has_pairs, np.log(2.0) * pairs[self._drawn], np.inf)
        self._list_weights: Float64Array = is_held_out / (is_held_out.sum(axis=0) * loss_of_equal_scores)

    @cached_property
    def of_candidates(self) -> Float64Array:
        """Return the loss of each candidate, (n_candidates, n_queries), see `of_sum`."""
        return np.stack([self.of_sum(weights) for weights in np.eye(len(self._scores))])

    def of_sum(self, weights: Float64Array) -> Float64Array:
        """Return the loss of a weighted sum, with its scores multiplied by the best constant.

        Args:
            weights: float64 (n_candidates,).

        Returns:
            float64 (n_queries,), the mean over the repetitions; NaN for queries without pairs, and for those
            that were not drawn.
        """
        total = (weights[:, np.newaxis] * self._scores).sum(axis=0)
        factor = self._fitted(total[np.newaxis], np.ones(self._n_queries, np.bool_), penalty=0.0)
        values = self._objective(self._list_weights).terms(factor * total, 0).value
        losses = np.full(self._n_queries, np.nan)
        of_drawn = values.reshape(self._repetitions, -1).sum(axis=0)
        losses[self._drawn[self._has_pairs]] = of_drawn[self._has_pairs]
        return losses

    def fitted_weights(self, candidates: Int64Array, queries: BoolArray) -> Float64Array:
        """Return the non-negative weights of some candidates with the least mean loss on some queries.

        Args:
            candidates: int64 (k,) positions of the candidates.
            queries: bool (n_queries,), True for the queries to average over.

        Returns:
            float64 (n_candidates,) weights, 0 for other candidates; all 0 if no sum of these orders the pairs
            better than chance.
        """
        weights = np.zeros(len(self._scores))
        weights[candidates] = self._fitted(self._scores[candidates], queries, _PENALTY)
        return weights

    def _fitted(self, scores: Float64Array, queries: BoolArray, penalty: float) -> Float64Array:
        from scipy import optimize  # its import takes a tenth of a second

        counted = queries[self._drawn] & self._has_pairs
        n_counted = max(int(np.count_nonzero(counted)), 1)
        objective = self._objective(np.where(counted, self._list_weights, 0.0) / n_counted)

        def loss(weights: Float64Array) -> tuple[float, Float64Array]:
            # Unlike matrix products, these sums do not depend on the number of threads.
            terms = objective.terms((weights[:, np.newaxis] * scores).sum(axis=0), 0)
            gradient = (scores * terms.gradient).sum(axis=1) + 2.0 * penalty * weights
            return float(terms.value.sum() + penalty * (weights**2).sum()), gradient

        start = np.full(len(scores), 1.0 / len(scores))
        found = optimize.minimize(loss, start, jac=True, bounds=[(0.0, None)] * len(start), method="L-BFGS-B")
        weights: Float64Array = np.where(found.x < _LEAST_WEIGHT, 0.0, found.x)
        return weights

    def _objective(self, list_weights: Float64Array) -> Objective:
        """Return the loss with weights of queries, float64 (repetitions, n_drawn)."""
        return RankNet().prepare(self._labels, self._boundaries, list_weights.ravel())


def _pairs_of_queries(dataset: RankingDataset) -> Int64Array:
    """Return the number of pairs of documents with different labels of each query, (n_queries,)."""
    lengths = np.diff(dataset.query_boundaries)
    distinct, codes = np.unique(dataset.labels, return_inverse=True)
    query_of_row = np.repeat(np.arange(dataset.n_queries), lengths)
    groups, sizes = np.unique(query_of_row * len(distinct) + codes, return_counts=True)
    # Floats are exact: the squares sum to less than 2^53.
    equal_pairs = np.bincount(groups // len(distinct), sizes**2, dataset.n_queries).astype(np.int64)
    pairs: Int64Array = (lengths**2 - equal_pairs) // 2
    return pairs
