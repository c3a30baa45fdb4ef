"""Pairwise losses with pairs weighted by learnt propensity ratios (Unbiased LambdaMART)."""

import numpy as np

from core.clicks.position_bias import RatioBias, ShownQueries
from core.losses.base import GradientAndLoss, Terms, checked_scores
from core.losses.lambdarank import LambdaRank
from core.losses.options import PairwiseLoss
from core.types import Float32Array, Float64Array, FloatArray, Int64Array

_PAIRS_PER_BLOCK = 2**22
_MIN_GAP = 0.01


class RatioObjective:
    """`ranknet` or `lambdarank` with every pair divided by t⁺_i t⁻_j, in NumPy.

    Each stored pair takes 24 bytes, and 8 for its loss. An evaluation takes about 80 bytes more per pair. The
    loss in equations 30 and 31 of the paper is ln(1 + e^{s_j − s_i}). XGBoost 3.2 uses ln(1 + e^{s_i − s_j})
    instead, which grows as a pair is ordered better.

    Args:
        loss: The loss, without pair selection and with the hard assignment.
        xgboost_loss: Whether to sum XGBoost's loss instead of the paper's, for comparisons with XGBoost.
    """

    def __init__(
        self, loss: PairwiseLoss, queries: ShownQueries, bias: RatioBias, *, xgboost_loss: bool = False
    ) -> None:
        self._loss, self._queries, self._bias = loss, queries, bias
        self._sign = 1.0 if xgboost_loss else -1.0
        self._sizes = np.diff(queries.boundaries)
        self._query_of = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._ahead, self._behind = _pairs(queries.labels, queries.boundaries)
        longest = int(self._sizes.max(initial=0))
        self._discounts = loss.rank_discounts(longest + 1)
        values = loss.label_values(queries.labels, queries.boundaries, self._discounts)
        self._by_rank = isinstance(loss, LambdaRank)
        gaps = values[self._ahead] - values[self._behind] if self._by_rank else np.ones(len(self._ahead))
        self._weights = gaps * queries.document_weights[self._ahead]
        self._pair_losses = np.empty(0)

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64; store the losses of the pairs for `observe`."""
        values, loss = checked_scores(scores), self._loss
        n_documents, n_queries = len(values), len(self._sizes)
        ahead, behind, weights = self._ahead, self._behind, self._current_weights(values)
        scaled = loss.sigma * (values[ahead] - values[behind])
        missed = np.exp(-np.logaddexp(0.0, scaled))  # σ(−z)
        self._pair_losses = weights * np.logaddexp(0.0, self._sign * scaled)
        factors = weights * self._bias.factors(
            self._queries.rank_indices[ahead], self._queries.rank_indices[behind]
        )
        queries = self._query_of[ahead]
        by_query = self._queries.query_weights
        if loss.normalization == "lightgbm":
            strength = 2.0 * loss.sigma * np.bincount(queries, factors * missed, n_queries)
            scale = np.divide(np.log2(1.0 + strength), strength, out=np.ones(n_queries), where=strength > 0.0)
            by_query = by_query * scale
        factors = factors * by_query[queries]
        pulls = factors * missed
        curvature = loss.hessian_factor * loss.sigma**2 * pulls * (1.0 - missed)
        gradient = loss.sigma * (
            np.bincount(behind, pulls, n_documents) - np.bincount(ahead, pulls, n_documents)
        )
        hessian = np.bincount(ahead, curvature, n_documents) + np.bincount(behind, curvature, n_documents)
        value = np.bincount(queries, factors * np.logaddexp(0.0, -scaled), n_queries)
        return Terms(*(np.asarray(each, np.float64) for each in (value, gradient, hessian)))

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian."""
        terms = self.terms(scores, iteration)
        return terms.gradient.astype(np.float32), terms.hessian.astype(np.float32)

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        terms = self.terms(scores, iteration)
        return terms.gradient.astype(np.float32), terms.hessian.astype(np.float32), terms.value

    def observe(self) -> None:
        """Add the losses of the pairs at the scores of the last call to the sums of the ratios."""
        rank_indices = self._queries.rank_indices
        self._bias.observe(rank_indices[self._ahead], rank_indices[self._behind], self._pair_losses)

    def _current_weights(self, scores: Float64Array) -> Float64Array:
        """Return the weights of the pairs at the current ranks, without the ratios."""
        loss, weights = self._loss, self._weights
        ahead, behind = self._ahead, self._behind
        if self._by_rank or loss.truncation_level is not None:
            order = np.lexsort((-scores, self._query_of))
            ranks = np.empty(len(scores), np.int64)
            ranks[order] = np.arange(len(scores)) - self._queries.boundaries[self._query_of]
            if self._by_rank:
                discounts = self._discounts[ranks]
                weights = weights * np.abs(discounts[ahead] - discounts[behind])
            if loss.truncation_level is not None:
                weights = weights * (np.minimum(ranks[ahead], ranks[behind]) < loss.truncation_level)
        if loss.normalization != "none":
            has_documents = self._sizes > 0
            starts = self._queries.boundaries[:-1][has_documents]
            varies = np.zeros(len(self._sizes), np.bool_)
            if len(starts):
                varies[has_documents] = np.maximum.reduceat(scores, starts) > np.minimum.reduceat(
                    scores, starts
                )
            gaps = _MIN_GAP + np.abs(scores[ahead] - scores[behind])
            weights = np.where(varies[self._query_of[ahead]], weights / gaps, weights)
        return weights


def _pairs(labels: Float64Array, boundaries: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the documents of all pairs with different labels in a query, the higher label first."""
    sizes = np.diff(boundaries)
    partners = np.repeat(sizes, sizes)  # number of partners of each document, itself included
    ends = np.cumsum(partners)
    ahead, behind = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    first = 0
    while first < len(labels):
        start = ends[first] - partners[first]
        last = max(first + 1, int(np.searchsorted(ends, start + _PAIRS_PER_BLOCK)))
        rows = np.arange(first, last)
        counts = partners[first:last]
        one = np.repeat(rows, counts)
        offsets = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = np.repeat(boundaries[:-1], sizes)[first:last]
        other = np.repeat(starts, counts) + offsets
        is_pair = labels[one] > labels[other]
        ahead.append(one[is_pair])
        behind.append(other[is_pair])
        first = last
    return np.concatenate(ahead), np.concatenate(behind)
