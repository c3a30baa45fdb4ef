"""The interface of every loss."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from core.errors import InvalidInput
from core.ranges import for_kernels
from core.types import Float32Array, Float64Array, FloatArray, Int64Array


@dataclass(frozen=True, eq=False)
class Terms:
    """A loss and its derivatives at given scores, in float64.

    Attributes:
        value: (n_queries,) loss of each query, in nats where it is logarithmic.
        gradient: (n_documents,) d value / d score, with the weights of pairs and queries held constant.
        hessian: (n_documents,) diagonal of the second derivative or of its substitute, never below 0; times
            `hessian_factor` where the loss has it.
    """

    value: Float64Array
    gradient: Float64Array
    hessian: Float64Array


# (n_documents,) gradient and hessian, and (n_queries,) losses.
GradientAndLoss = tuple[Float32Array, Float32Array, Float64Array]


class Objective(Protocol):
    """A loss bound to the labels of one dataset, called once per iteration."""

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian, (n_documents,) each, in buffers that the next call overwrites."""
        ...

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return gradient, hessian and the loss of each query, in buffers that may be reused.

        The loss of a pair is exact to 1e-9 of its weight.
        """
        ...

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64, in new arrays."""
        ...


@dataclass(frozen=True, eq=False)
class LabelledQueries:
    """Labels and weights that a loss is bound to, as arrays for kernels.

    Attributes:
        labels: (n_documents,) float64.
        boundaries: (n_queries + 1,) offsets.
        query_weights: (n_queries,) factors.
        document_weights: (n_documents,) factors; empty if none are given, which means 1.
        first_query: Position of the first query in the whole dataset; random numbers depend on it.
    """

    labels: Float64Array
    boundaries: Int64Array
    query_weights: Float64Array
    document_weights: Float64Array
    first_query: int = 0

    def each_document_weight(self) -> Float64Array:
        """Return (n_documents,) factors, 1 where none are given."""
        return self.document_weights if len(self.document_weights) else np.ones(len(self.labels))


class Loss(ABC):
    """A differentiable surrogate of ranking quality; a frozen dataclass of its hyperparameters.

    All losses share these arguments. `scores` are (n_documents,) floats; `labels` are (n_documents,)
    graded relevance >= 0; `query_boundaries` are (n_queries + 1,) int64 offsets that cut both into
    queries; `query_weights` are (n_queries,) factors on value, gradient and hessian, 1 when None;
    `document_weights` are (n_documents,) factors such as inverse propensities, 1 when None. Depending on the
    loss, they multiply the pairs in which the document should rank higher, its target, or its term.
    `iteration` counts from 0 and only matters to losses that draw random numbers.

    A query of one document contributes zero, except to `mse`. A query of one label contributes zero, except
    to `mse`, `arp-loss1`, `ndcg-loss1`, `listnet` and `xe-ndcg`.
    Documents with equal scores are ranked in input order. Scores of up to 1e30 in magnitude give finite
    terms.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    # When to choose this loss.
    choose: ClassVar[str]
    # Whether adding a constant to all scores of a query leaves the loss unchanged.
    is_shift_invariant: ClassVar[bool] = True

    @property
    def is_random(self) -> bool:
        """Return whether the terms depend on random numbers, which the hyperparameter `seed` determines."""
        return False

    def __call__(
        self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, iteration: int = 0
    ) -> Terms:
        """Evaluate the loss once, for inspection."""
        return self.prepare(labels, query_boundaries).terms(scores, iteration)

    def check_labels(self, labels: FloatArray) -> None:  # noqa: B027 - most losses take any label
        """Refuse labels >= 0 that the loss cannot use.

        Raises:
            InvalidInput: At the hyperparameter that conflicts with the labels.
        """

    def ineffective_hyperparameters(self) -> Mapping[str, str]:
        """Return the hyperparameters without effect, each with the condition under which it has an effect."""
        return {}

    def prepare(
        self,
        labels: FloatArray,
        query_boundaries: Int64Array,
        query_weights: Float64Array | None = None,
        document_weights: Float64Array | None = None,
        first_query: int = 0,
    ) -> Objective:
        """Bind the loss to a dataset; everything that depends on labels alone is computed once, here.

        A part of a dataset, consecutive queries, has bit for bit the same terms as in the whole dataset. With
        random numbers, this requires that `first_query` is the position of its first query.

        Args:
            labels: (n_documents,) labels, see the class.
            query_boundaries: (n_queries + 1,), from 0.
            query_weights: (n_queries,), or None.
            document_weights: (n_documents,), or None.
            first_query: Position of the first query in the whole dataset; 0 to bind the whole dataset.
        """
        boundaries = for_kernels(query_boundaries, np.int64)
        return self._bind(
            LabelledQueries(
                for_kernels(labels, np.float64),
                boundaries,
                _weights(query_weights, np.ones(len(boundaries) - 1)),
                _weights(document_weights, np.empty(0)),
                first_query,
            )
        )

    @abstractmethod
    def _bind(self, queries: LabelledQueries) -> Objective:
        """Bind the loss; compute everything that depends on labels alone."""


def seeded(loss: Loss, seed: int) -> Loss:
    """Return the loss with this seed, unless it has a seed already or has no such hyperparameter."""
    if getattr(loss, "seed", seed) is not None:
        return loss
    dataclass_loss: Any = loss
    with_seed: Loss = replace(dataclass_loss, seed=seed)
    return with_seed


def checked_scores(scores: FloatArray) -> Float64Array:
    """Return scores as a float64 array for kernels.

    Raises:
        InvalidInput: A score is NaN or infinite, so that it has no rank.
    """
    values = for_kernels(scores, np.float64)
    if not np.isfinite(values).all():
        raise InvalidInput.at("/scores", "must be finite")
    return values


def _weights(weights: Float64Array | None, default: Float64Array) -> Float64Array:
    return default if weights is None else for_kernels(weights, np.float64)
