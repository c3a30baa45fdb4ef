"""Dual learning algorithm: a ranker and click propensities, each weighted by the inverse of the other."""

import numpy as np

from core.clicks.position_bias import Arrays, ShownQueries
from core.losses.base import GradientAndLoss, Objective, Terms, checked_scores
from core.losses.softmax import ListNet
from core.types import Float32Array, Float64Array, FloatArray, Int64Array

_MIN_SHARE = 1e-6  # share of all targets added to each rank, so that a rank without clicks has a finite logit


class DualBias:
    """Propensities of ranks, the softmax of logits γ, learnt from clicks weighted by inverse relevance.

    The loss of a list is −Σ u_i ln softmax(γ)_i over its shown ranks (Ai et al. 2018, equation 9). u_i is the
    target of a click times r_1 / r_i, the inverse of its relevance by the ranker. The derivative by γ is
    expected minus observed Σ u of each rank. A step adds η ln (observed / expected) to γ, as iterative
    scaling does (Darroch and Ratcliff 1972). With η = 1 one step reaches the minimum where all lists show the
    same ranks.

    A high estimated relevance at ranks far from the top lowers their propensities. Lower propensities raise
    the weights from which that relevance is learnt. Without a bound, propensities and relevances diverge
    where the ranker can infer ranks from features.

    Args:
        n_ranks: Ranks from 1.
        step: Learning rate η, at most 1.
        lower_bound: Bound at which propensities and relevances, relative to the first rank, are clipped.

    Attributes:
        logits: (n_ranks,) γ.
    """

    def __init__(self, n_ranks: int, step: float, lower_bound: float) -> None:
        self.logits = np.zeros(n_ranks)
        self._step, self._lower_bound = step, lower_bound
        self._reset_sums()

    def _reset_sums(self) -> None:
        self._observed, self._expected = np.zeros(len(self.logits)), np.zeros(len(self.logits))

    @property
    def propensities(self) -> Float64Array:
        """Return the propensity of each rank, (n_ranks,), 1 at rank 1."""
        propensities: Float64Array = np.exp(self.logits - self.logits[0])
        return propensities

    def weights(self, rank_indices: Int64Array) -> Float64Array:
        """Return the inverse clipped propensities of ranks, which are counted from 0."""
        weights: Float64Array = 1.0 / np.maximum(self.propensities, self._lower_bound)[rank_indices]
        return weights

    def observe(
        self,
        rank_indices: Int64Array,
        targets: Float64Array,
        relevances: Float64Array,
        boundaries: Int64Array,
    ) -> None:
        """Add lists to the sums.

        Args:
            rank_indices: (n_documents,) shown ranks from 0.
            targets: (n_documents,) targets of the clicks, 0 for documents without a click.
            relevances: (n_documents,) relevance relative to the document shown first.
            boundaries: (n_queries + 1,) offsets of lists, which must not be empty.
        """
        sizes, starts = np.diff(boundaries), boundaries[:-1]
        weighted = targets / np.maximum(relevances, self._lower_bound)
        masses = np.add.reduceat(weighted, starts)
        shares = np.exp(self.logits - self.logits.max())[rank_indices]
        shares *= np.repeat(masses / np.add.reduceat(shares, starts), sizes)
        self._observed += np.bincount(rank_indices, weighted, len(self.logits))
        self._expected += np.bincount(rank_indices, shares, len(self.logits))

    def update(self) -> None:
        """Take a step towards the minimum of the loss, and reset the sums."""
        smoothing = _MIN_SHARE * self._observed.sum()
        if smoothing > 0.0:
            ratios = (self._observed + smoothing) / (self._expected + smoothing)
            self.logits = self.logits + self._step * np.log(ratios)
        self._reset_sums()

    def arrays(self) -> dict[str, FloatArray]:
        """Return the logits for a checkpoint."""
        return {"logits": self.logits.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Restore the logits from a checkpoint."""
        self.logits = np.asarray(arrays["logits"], np.float64)


class DualObjective:
    """`listnet` with clicks weighted by the inverse of current propensities (Ai et al. 2018, equation 7).

    Args:
        loss: The loss, with targets from labels.
        queries: Clicks, weights and ranks.
    """

    def __init__(self, loss: ListNet, queries: ShownQueries, bias: DualBias) -> None:
        self._loss, self._bias = loss, bias
        filled = np.diff(queries.boundaries) > 0
        self._queries = queries
        self._boundaries = np.append(queries.boundaries[:-1][filled], queries.boundaries[-1])
        self._sizes = np.diff(self._boundaries)
        shown = np.lexsort((queries.rank_indices, np.repeat(np.arange(len(self._sizes)), self._sizes)))
        self._first = np.repeat(shown[self._boundaries[:-1]], self._sizes)
        clicks = np.add.reduceat(queries.labels, self._boundaries[:-1]) if len(self._sizes) else np.empty(0)
        shares = queries.labels / np.repeat(np.where(clicks > 0.0, clicks, 1.0), self._sizes)
        by_document = np.repeat(queries.query_weights[filled], self._sizes)
        self._targets = shares * by_document * queries.document_weights
        self._scores = np.zeros(len(queries.labels))

    def _bound(self, scores: FloatArray) -> Objective:
        self._scores = checked_scores(scores)
        queries = self._queries
        weights = queries.document_weights * self._bias.weights(queries.rank_indices)
        return self._loss.prepare(queries.labels, queries.boundaries, queries.query_weights, weights)

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian."""
        return self._bound(scores)(scores, iteration)

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        return self._bound(scores).with_value(scores, iteration)

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        return self._bound(scores).terms(scores, iteration)

    def observe(self) -> None:
        """Add the lists, at the scores of the last call, to the sums of the propensities."""
        if not len(self._sizes):
            return
        with np.errstate(over="ignore"):
            relevances = np.exp(self._loss.sigma * (self._scores - self._scores[self._first]))
        self._bias.observe(self._queries.rank_indices, self._targets, relevances, self._boundaries)
