"""Pointwise losses: sums over single documents."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.losses.base import GradientAndLoss, LabelledQueries, Loss, Terms
from core.types import Float32Array, Float64Array, FloatArray, Int64Array


@dataclass(frozen=True)
class MeanSquaredError(Loss):
    """Regression on the label: ½ Σ (s − y)².

    Gradient s − y, hessian 1. Unlike the pairwise losses it is not zero on queries of one label.

    Source: Wang et al. 2018, section 3.2; Chen et al. 2009, equation 1.

    Example:
        >>> import numpy as np
        >>> terms = MeanSquaredError()(np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([0, 2]))
        >>> float(terms.value[0]), terms.gradient.tolist()
        (0.5, [-1.0, 0.0])
    """

    name: ClassVar[str] = "mse"
    summary: ClassVar[str] = "Squared distance between score and label"
    formula: ClassVar[str] = "½ Σ (s − y)²"
    source: ClassVar[str] = "Chen et al. 2009, eq. 1"
    choose: ClassVar[str] = (
        "Labels are quantities to predict, or you need a baseline that scores each document independently"
    )

    is_shift_invariant: ClassVar[bool] = False

    def _bind(self, queries: LabelledQueries) -> "SquaredErrorObjective":
        repeated_query_weights = np.repeat(queries.query_weights, np.diff(queries.boundaries))
        weights = repeated_query_weights * queries.each_document_weight()
        return SquaredErrorObjective(queries.labels, queries.boundaries, weights)


class SquaredErrorObjective:
    """`mse` bound to one dataset."""

    def __init__(self, labels: Float64Array, query_boundaries: Int64Array, weights: Float64Array) -> None:
        self._labels = labels
        self._query_boundaries = query_boundaries
        self._weights = weights
        self._gradient = np.empty(len(labels), np.float32)
        self._hessian = weights.astype(np.float32)

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian in reused float32 buffers."""
        residual = np.asarray(scores, np.float64) - self._labels
        np.multiply(residual, self._weights, out=self._gradient, casting="same_kind")
        return self._gradient, self._hessian

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        return *self(scores, iteration), self.terms(scores, iteration).value

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        residual = np.asarray(scores, np.float64) - self._labels
        gradient = self._weights * residual
        starts, has_documents = self._query_boundaries[:-1], np.diff(self._query_boundaries) > 0
        value = np.zeros(len(starts))
        if len(residual):
            value[has_documents] = np.add.reduceat(0.5 * gradient * residual, starts[has_documents])
        return Terms(value, gradient, self._weights.copy())
