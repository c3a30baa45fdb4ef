"""Position bias that is learnt during training: additive terms of scores, or ratios of pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.types import Float32Array, Float64Array, FloatArray, Int64Array

_MIN_RATIO = 1e-16  # as in XGBoost
_CURVATURE = 1e-3  # added to the second derivative of a rank, as in LightGBM

Arrays = Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class ShownQueries:
    """Clicks, weights and shown ranks that an objective with a position bias is bound to.

    Attributes:
        labels: (n_documents,) clicks.
        boundaries: (n_queries + 1,) offsets.
        query_weights: (n_queries,) factors.
        document_weights: (n_documents,) factors of the loss terms that push the document up.
        rank_indices: (n_documents,) shown ranks from 0.
    """

    labels: Float64Array
    boundaries: Int64Array
    query_weights: Float64Array
    document_weights: Float64Array
    rank_indices: Int64Array


class PositionBias(Protocol):
    """Learnt state that is updated once per tree or epoch, from sums over all documents."""

    def update(self) -> None:
        """Update the state from the sums, and reset the sums."""

    def arrays(self) -> dict[str, FloatArray]:
        """Return copies of the state's arrays by name."""

    def restore(self, arrays: Arrays) -> None:
        """Restore a state that `arrays` returned."""


class AdditiveBias:
    """An additive term b of the score for each rank, learnt with the model but not part of it.

    b += η D₁ / (|D₂| + 0.001) with D₁ = −Σ g − b λ n and D₂ = −Σ h − λ n. Sums are over the n documents of a
    rank. g and h are the loss's derivatives at s + b (LightGBM 4.1, #5929). Terms are float32, as in
    LightGBM.

    Args:
        step: Learning rate η.
        regularization: λ.

    Attributes:
        terms: float32 (n_ranks,) b.
    """

    def __init__(self, n_ranks: int, step: float, regularization: float) -> None:
        self.terms = np.zeros(n_ranks, np.float32)
        self._step, self._regularization = step, regularization
        self._reset_sums()

    def _reset_sums(self) -> None:
        size = len(self.terms)
        self._gradients, self._hessians, self._counts = np.zeros(size), np.zeros(size), np.zeros(size)

    def observe(self, rank_indices: Int64Array, gradient: Float32Array, hessian: Float32Array) -> None:
        """Add derivatives to the sums; `rank_indices` are ranks from 0."""
        size = len(self.terms)
        self._gradients -= np.bincount(rank_indices, gradient, size)
        self._hessians -= np.bincount(rank_indices, hessian, size)
        self._counts += np.bincount(rank_indices, minlength=size)

    def update(self) -> None:
        """Take a Newton step, and reset the sums."""
        terms = self.terms.astype(np.float64)
        first = self._gradients - terms * self._regularization * self._counts
        second = self._hessians - self._regularization * self._counts
        steps = self._step * first / (np.abs(second) + _CURVATURE)
        self.terms = (terms + steps).astype(np.float32)
        self._reset_sums()

    def arrays(self) -> dict[str, FloatArray]:
        """Return the terms for a checkpoint."""
        return {"terms": self.terms.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Restore the terms from a checkpoint."""
        self.terms = np.asarray(arrays["terms"], np.float32)


class RatioBias:
    """Ratios t⁺ and t⁻ of the propensities of clicked and unclicked documents, 1 at rank 1.

    t⁺_i = (S_i / S_1)^{1 / (1 + p)} with S_i = Σ L_ij / t⁻_j over the pairs of rank i. t⁻_j is computed in
    the same way from L_ij / t⁺_i (Hu et al. 2019, equations 30 and 31; XGBoost's `lambdarank_unbiased`).
    Summands with a ratio below 1e-16 count as 0, and ratios stay unchanged where S_1 is below 1e-16.

    Attributes:
        clicked: (n_ranks,) t⁺.
        unclicked: (n_ranks,) t⁻.
    """

    def __init__(self, n_ranks: int, norm: float) -> None:
        self.clicked, self.unclicked = np.ones(n_ranks), np.ones(n_ranks)
        self._power = 1.0 / (1.0 + norm)
        self._reset_sums()

    def _reset_sums(self) -> None:
        self._of_clicked, self._of_unclicked = np.zeros(len(self.clicked)), np.zeros(len(self.clicked))

    def observe(self, ahead: Int64Array, behind: Int64Array, losses: Float64Array) -> None:
        """Add the losses of pairs to the sums.

        Args:
            ahead: (n_pairs,) shown ranks of the clicked documents, from 0.
            behind: (n_pairs,) shown ranks of the unclicked documents, from 0.
            losses: (n_pairs,) losses.
        """
        size = len(self.clicked)
        self._of_clicked += np.bincount(ahead, _divided(losses, self.unclicked[behind]), size)
        self._of_unclicked += np.bincount(behind, _divided(losses, self.clicked[ahead]), size)

    def update(self) -> None:
        """Recompute the ratios from the sums, and reset the sums."""
        if self._of_clicked[0] >= _MIN_RATIO:
            self.clicked = (self._of_clicked / self._of_clicked[0]) ** self._power
        if self._of_unclicked[0] >= _MIN_RATIO:
            self.unclicked = (self._of_unclicked / self._of_unclicked[0]) ** self._power
        self._reset_sums()

    def factors(self, ahead: Int64Array, behind: Int64Array) -> Float64Array:
        """Return 1 / (t⁺_i t⁻_j) of pairs, 1 where a ratio is below 1e-16."""
        clicked, unclicked = self.clicked[ahead], self.unclicked[behind]
        counts = (clicked >= _MIN_RATIO) & (unclicked >= _MIN_RATIO)
        return np.divide(1.0, clicked * unclicked, out=np.ones_like(clicked), where=counts)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the ratios for a checkpoint."""
        return {"clicked": self.clicked.copy(), "unclicked": self.unclicked.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Restore the ratios from a checkpoint."""
        self.clicked = np.asarray(arrays["clicked"], np.float64)
        self.unclicked = np.asarray(arrays["unclicked"], np.float64)


def _divided(losses: Float64Array, ratios: Float64Array) -> Float64Array:
    return np.divide(losses, ratios, out=np.zeros_like(losses), where=ratios >= _MIN_RATIO)
