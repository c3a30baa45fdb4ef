"""Losses bound to datasets of clicks, with a correction of position bias."""

from typing import Protocol, cast

import numpy as np

from core.clicks.correction import DUAL_STEP, ClickCorrection
from core.clicks.dual import DualBias, DualObjective
from core.clicks.position_bias import AdditiveBias, PositionBias, RatioBias, ShownQueries
from core.clicks.ratio import RatioObjective
from core.data import RankingDataset
from core.losses import Loss
from core.losses.base import GradientAndLoss, Objective, Terms
from core.losses.options import PairwiseLoss
from core.losses.softmax import ListNet
from core.types import Float32Array, Float64Array, FloatArray, Int64Array


class ObservingObjective(Protocol):
    """An objective that updates the sums from which a position bias is learnt."""

    def observe(self) -> None:
        """Add the derivatives or losses of the last call to the sums."""


class LossBinding:
    """Binds the loss of a training to a dataset, or to parts of it, with the correction for clicks.

    Args:
        correction: The correction, or None for uncorrected training.
        step: Learning rate of the terms of `additive`, unless the correction sets one.

    Attributes:
        bias: Position bias that is learnt with the model, or None.

    Raises:
        InvalidInput: The dataset lacks the ranks that the correction needs.
    """

    def __init__(
        self,
        loss: Loss,
        dataset: RankingDataset,
        correction: ClickCorrection | None = None,
        step: float = 0.1,
    ) -> None:
        self._loss, self._dataset = loss, dataset
        self._kind = "none" if correction is None else correction.correction
        self._weights = dataset.document_weights
        self._labels: FloatArray = dataset.labels
        self.bias: PositionBias | None = None
        if correction is None or self._kind == "none":
            return
        ranks = correction.ranks_of(dataset)
        self._rank_indices = ranks - 1
        n_ranks = int(ranks.max(initial=1))
        if self._kind == "ips":
            weights = np.where(dataset.labels > 0.0, correction.weights(ranks), 1.0)
            self._weights = weights if self._weights is None else self._weights * weights
        elif self._kind == "affine":
            intercepts = np.asarray(correction.intercepts, np.float64)[ranks - 1]
            clicks = (dataset.labels > 0.0).astype(np.float64)
            self._labels = (clicks - intercepts) * correction.weights(ranks)
        elif self._kind == "additive":
            self.bias = AdditiveBias(n_ranks, correction.step or step, correction.regularization)
        elif self._kind == "dual":
            self.bias = DualBias(n_ranks, correction.step or DUAL_STEP, correction.min_propensity)
        else:
            self.bias = RatioBias(n_ranks, correction.norm)

    @property
    def propensities(self) -> tuple[float, ...] | None:
        """Return the propensity of each rank as learnt so far, or None where none are learnt."""
        return tuple(self.bias.propensities.tolist()) if isinstance(self.bias, DualBias) else None

    def bind_all(self, first_query: int = 0) -> Objective:
        """Bind the loss to all documents; see `Loss.prepare` for `first_query`, used by random losses."""
        dataset = self._dataset
        return self._bound(
            slice(None), dataset.query_boundaries, dataset.query_weights, first_query=first_query
        )

    def bind_queries(self, queries: Int64Array, rows: Int64Array) -> Objective:
        """Bind the loss to some queries.

        Args:
            queries: (n,) positions of the queries.
            rows: Positions of their documents, query after query.
        """
        dataset = self._dataset
        boundaries = np.concatenate([[0], np.cumsum(np.diff(dataset.query_boundaries)[queries])])
        weights = None if dataset.query_weights is None else dataset.query_weights[queries]
        return self._bound(rows, boundaries, weights)

    def _bound(
        self,
        rows: Int64Array | slice,
        boundaries: Int64Array,
        query_weights: Float64Array | None,
        first_query: int = 0,
    ) -> Objective:
        labels = self._labels[rows]
        weights = None if self._weights is None else self._weights[rows]
        if self._kind in ("ratio", "dual"):
            queries = ShownQueries(
                np.asarray(labels, np.float64),
                boundaries,
                np.ones(len(boundaries) - 1) if query_weights is None else query_weights,
                np.ones(len(labels)) if weights is None else weights,
                self._rank_indices[rows],
            )
            if isinstance(self.bias, DualBias):
                return DualObjective(cast("ListNet", self._loss), queries, self.bias)
            return RatioObjective(cast("PairwiseLoss", self._loss), queries, cast("RatioBias", self.bias))
        if self._kind == "affine" and self._loss.name != "mse":
            return _signed_objective(
                self._loss, np.asarray(labels, np.float64), weights, boundaries, query_weights
            )
        objective = self._loss.prepare(labels, boundaries, query_weights, weights, first_query)
        if self._kind == "additive":
            return BiasedObjective(objective, self._rank_indices[rows], cast("AdditiveBias", self.bias))
        return objective


class BiasedObjective:
    """A loss of scores to which a term for each shown rank is added.

    Args:
        rank_indices: (n_documents,) shown ranks from 0.
    """

    def __init__(self, objective: Objective, rank_indices: Int64Array, bias: AdditiveBias) -> None:
        self._objective, self._rank_indices, self._bias = objective, rank_indices, bias
        none = np.zeros(len(rank_indices), np.float32)
        self._last: tuple[Float32Array, Float32Array] = none, none

    def _biased_scores(self, scores: FloatArray) -> Float64Array:
        return np.asarray(scores, np.float64) + self._bias.terms[self._rank_indices]

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian."""
        self._last = self._objective(self._biased_scores(scores), iteration)
        return self._last

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        gradient, hessian, value = self._objective.with_value(self._biased_scores(scores), iteration)
        self._last = gradient, hessian
        return gradient, hessian, value

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        return self._objective.terms(self._biased_scores(scores), iteration)

    def observe(self) -> None:
        """Add the derivatives of the last call to the bias's sums by rank."""
        self._bias.observe(self._rank_indices, *self._last)


class SignedObjective:
    """A loss that is linear in its targets, for targets of both signs: L(t⁺) − L(t⁻).

    Hessians are added instead of subtracted. The sum is an upper bound of the hessian and is never negative,
    which keeps the steps of trees finite.
    """

    def __init__(self, positive: Objective, negative: Objective) -> None:
        self._positive, self._negative = positive, negative

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian."""
        (gradient, hessian), (negative_gradient, negative_hessian) = (
            self._positive(scores, iteration),
            self._negative(scores, iteration),
        )
        return gradient - negative_gradient, hessian + negative_hessian

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        gradient, hessian, value = self._positive.with_value(scores, iteration)
        negative_gradient, negative_hessian, negative_value = self._negative.with_value(scores, iteration)
        return gradient - negative_gradient, hessian + negative_hessian, value - negative_value

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        plus, minus = self._positive.terms(scores, iteration), self._negative.terms(scores, iteration)
        return Terms(plus.value - minus.value, plus.gradient - minus.gradient, plus.hessian + minus.hessian)


def _signed_objective(
    loss: Loss,
    targets: Float64Array,
    weights: Float64Array | None,
    boundaries: Int64Array,
    query_weights: Float64Array | None,
) -> SignedObjective:
    """Bind a loss to targets of both signs.

    The loss must be linear in its labels; ListNet is linear in its document weights instead.
    """
    factors = np.ones(len(targets)) if weights is None else weights
    sizes = np.repeat(np.diff(boundaries), np.diff(boundaries)).astype(np.float64)

    def objective_of(values: Float64Array) -> Objective:
        if loss.name == "listnet":
            # ListNet divides labels by their sum, so that equal labels become 1 / size. Document weights of
            # size times value therefore produce the targets.
            return loss.prepare(np.ones(len(values)), boundaries, query_weights, values * sizes * factors)
        return loss.prepare(values, boundaries, query_weights, factors)

    return SignedObjective(objective_of(np.maximum(targets, 0.0)), objective_of(np.maximum(-targets, 0.0)))
