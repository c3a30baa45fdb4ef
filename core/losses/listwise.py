"""Base of the listwise losses: a kernel per query, without pairs."""

from collections.abc import Callable

import numpy as np

from core.jit import nonallocating
from core.losses.base import GradientAndLoss, LabelledQueries, Terms, checked_scores
from core.types import Float32Array, Float64Array, FloatArray, Int64Array

# Called with (scores, iteration, gradient, hessian, value); fills gradient, hessian and value.
Fill = Callable[[Float64Array, int, FloatArray, FloatArray, Float64Array], None]


@nonallocating
def write_zeros(
    query: int, start: int, stop: int, gradient: FloatArray, hessian: FloatArray, value: Float64Array
) -> None:
    """Write zero gradient, hessian and loss for a query."""
    gradient[start:stop] = 0.0
    hessian[start:stop] = 0.0
    value[query] = 0.0


class ListwiseObjective:
    """A listwise loss bound to one dataset.

    Args:
        fill: Function that writes gradient, hessian and losses.
    """

    def __init__(self, fill: Fill, n_queries: int, n_documents: int) -> None:
        self._fill = fill
        self._n_documents = n_documents
        self._gradient = np.zeros(n_documents, np.float32)
        self._hessian = np.zeros(n_documents, np.float32)
        self._value = np.zeros(n_queries)

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian in reused float32 buffers."""
        self._fill(checked_scores(scores), iteration, self._gradient, self._hessian, self._value)
        return self._gradient, self._hessian

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient and hessian with the loss of each query."""
        return *self(scores, iteration), self._value

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        terms = Terms(np.zeros(len(self._value)), np.zeros(self._n_documents), np.zeros(self._n_documents))
        self._fill(checked_scores(scores), iteration, terms.gradient, terms.hessian, terms.value)
        return terms


def list_weights(queries: LabelledQueries) -> Float64Array:
    """Return the queries' weights, 0 for a query of one document."""
    return np.where(np.diff(queries.boundaries) > 1, queries.query_weights, 0.0)


def softmax_by_query(values: Float64Array, query_boundaries: Int64Array) -> Float64Array:
    """Return the softmax of values within each query."""
    sizes = np.diff(query_boundaries)
    starts = query_boundaries[:-1][sizes > 0]
    shifted = np.exp(values - np.repeat(np.maximum.reduceat(values, starts), sizes[sizes > 0]))
    shares: Float64Array = shifted / np.repeat(np.add.reduceat(shifted, starts), sizes[sizes > 0])
    return shares
