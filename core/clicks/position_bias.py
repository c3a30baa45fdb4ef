"""Position bias that is learnt while a model is trained: terms of scores, or ratios of pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.types import Float32Array, Float64Array, FloatArray, Int64Array

_LEAST_RATIO = 1e-16
_CURVATURE = 1e-3

Arrays = Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class ShownQueries:
    """Clicks, weights and shown ranks that an objective with a position bias is bound to.

    Attributes:
        labels: (n_documents,) clicks.
        boundaries: (n_queries + 1,) offsets.
        query_weights: (n_queries,) factors.
        document_weights: (n_documents,) factors of the terms of a document that should be ahead.
        places: (n_documents,) shown ranks from 0.
    """

    labels: Float64Array
    boundaries: Int64Array
    query_weights: Float64Array
    document_weights: Float64Array
    places: Int64Array


class PositionBias(Protocol):
    """State that changes once an iteration, by sums over the documents of the iteration."""

    def update(self) -> None:
        """Take the step of the iteration by the sums, and clear them."""

    def arrays(self) -> dict[str, FloatArray]:
        """Return the state, by name; copies."""

    def restore(self, arrays: Arrays) -> None:
        """Go on from a state that `arrays` returned."""


class AdditiveBias:
    """A term b of the score for each rank, fitted together with the model and left out of it.

    b += η D₁ / (|D₂| + 0.001) with D₁ = −Σ g − b λ n and D₂ = −Σ h − λ n over the documents of a rank, g and
    h the loss's derivatives at s + b (LightGBM 4.1, #5929). Terms are float32, as LightGBM's.

    Args:
        n_ranks: Ranks from 1.
        step: Learning rate η.
        regularization: λ.

    Attributes:
        terms: float32 (n_ranks,) b.
    """

    def __init__(self, n_ranks: int, step: float, regularization: float) -> None:
        self.terms = np.zeros(n_ranks, np.float32)
        self._step, self._regularization = step, regularization
        self._clear()

    def _clear(self) -> None:
        size = len(self.terms)
        self._gradients, self._hessians, self._counts = np.zeros(size), np.zeros(size), np.zeros(size)

    def observe(self, places: Int64Array, gradient: Float32Array, hessian: Float32Array) -> None:
        """Add derivatives to the sums; places are ranks from 0."""
        size = len(self.terms)
        self._gradients -= np.bincount(places, gradient, size)
        self._hessians -= np.bincount(places, hessian, size)
        self._counts += np.bincount(places, minlength=size)

    def update(self) -> None:
        """Take a Newton step."""
        terms = self.terms.astype(np.float64)
        first = self._gradients - terms * self._regularization * self._counts
        second = self._hessians - self._regularization * self._counts
        steps = self._step * first / (np.abs(second) + _CURVATURE)
        self.terms = (terms + steps).astype(np.float32)
        self._clear()

    def arrays(self) -> dict[str, FloatArray]:
        """Return the terms."""
        return {"terms": self.terms.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Go on from terms."""
        self.terms = np.asarray(arrays["terms"], np.float32)


class RatioBias:
    """Ratios t⁺ and t⁻ of the propensities of clicked and unclicked documents, 1 at rank 1.

    t⁺_i = (Σ L_ij / t⁻_j over the pairs of rank i ÷ the same of rank 1)^{1 / (1 + p)}, and t⁻_j likewise with
    L_ij / t⁺_i (Hu et al. 2019, equations 30 and 31; XGBoost's `lambdarank_unbiased`).

    Args:
        n_ranks: Ranks from 1.
        norm: p.

    Attributes:
        clicked: (n_ranks,) t⁺.
        unclicked: (n_ranks,) t⁻.
    """

    def __init__(self, n_ranks: int, norm: float) -> None:
        self.clicked, self.unclicked = np.ones(n_ranks), np.ones(n_ranks)
        self._power = 1.0 / (1.0 + norm)
        self._clear()

    def _clear(self) -> None:
        self._of_clicked, self._of_unclicked = np.zeros(len(self.clicked)), np.zeros(len(self.clicked))

    def observe(self, ahead: Int64Array, behind: Int64Array, losses: Float64Array) -> None:
        """Add the losses of pairs to the sums; `ahead` and `behind` are ranks from 0."""
        size = len(self.clicked)
        self._of_clicked += np.bincount(ahead, _divided(losses, self.unclicked[behind]), size)
        self._of_unclicked += np.bincount(behind, _divided(losses, self.clicked[ahead]), size)

    def update(self) -> None:
        """Replace the ratios."""
        if self._of_clicked[0] >= _LEAST_RATIO:
            self.clicked = (self._of_clicked / self._of_clicked[0]) ** self._power
        if self._of_unclicked[0] >= _LEAST_RATIO:
            self.unclicked = (self._of_unclicked / self._of_unclicked[0]) ** self._power
        self._clear()

    def factors(self, ahead: Int64Array, behind: Int64Array) -> Float64Array:
        """Return 1 / (t⁺_i t⁻_j) of pairs, 1 where a ratio vanishes."""
        clicked, unclicked = self.clicked[ahead], self.unclicked[behind]
        counts = (clicked >= _LEAST_RATIO) & (unclicked >= _LEAST_RATIO)
        return np.divide(1.0, clicked * unclicked, out=np.ones_like(clicked), where=counts)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the ratios."""
        return {"clicked": self.clicked.copy(), "unclicked": self.unclicked.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Go on from ratios."""
        self.clicked = np.asarray(arrays["clicked"], np.float64)
        self.unclicked = np.asarray(arrays["unclicked"], np.float64)


def _divided(losses: Float64Array, ratios: Float64Array) -> Float64Array:
    return np.divide(losses, ratios, out=np.zeros_like(losses), where=ratios >= _LEAST_RATIO)
