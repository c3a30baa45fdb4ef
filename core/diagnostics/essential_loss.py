"""The essential loss bounds metrics, and other losses bound it (Chen et al. 2009, theorems 1, 2, section 4).

Each function that is named `…_bounds_…` returns the lower and the upper side of one inequality for one query,
which has a relevant document. Tied scores count in the order of the ranking.
"""

from collections.abc import Callable

import numpy as np

from core.diagnostics.ranked_query import RankedQuery, Sides
from core.types import Float64Array

Phi = Callable[[Float64Array], Float64Array]
Weigh = Callable[[RankedQuery], Float64Array]


def hinge(z: Float64Array) -> Float64Array:
    """Return φ of Ranking SVM, the hinge loss."""
    return np.asarray(np.maximum(0.0, 1.0 - z))


def exponential(z: Float64Array) -> Float64Array:
    """Return φ of RankBoost, the exponential loss."""
    return np.asarray(np.exp(-np.maximum(z, -500.0)))


def essential_loss(query: RankedQuery, weights: Float64Array) -> float:
    """Return L_β = min over consistent permutations of Σ_{s < n} β(s) I(a later document ranks higher).

    Of all permutations consistent with the labels, the permutation that orders documents of equal label by
    score has the fewest errors. Its errors are at the steps with the smallest weights, provided that weights
    do not increase within a label.

    Args:
        weights: (n,) β of each step.
    """
    order = _consistent(query)
    # Smallest rank from each step on: if a later step has a smaller rank, the step is an error.
    first_behind = np.minimum.accumulate(order[::-1])[::-1]
    errors = first_behind[1:] < order[:-1]
    return float((weights[:-1] * errors).sum())


def gain_weights(query: RankedQuery) -> Float64Array:
    """Return β1(s)/N = G(l(y(s))) D(s)/N for each step (theorem 1); in the paper, D(s) is 1/log2(1 + s)."""
    return np.asarray(np.sort(query.gains)[::-1] / query.discounts)


def equal_weights(query: RankedQuery) -> Float64Array:
    """Return β2(s) = 1, divided by the number of relevant documents: labels above 0 (theorem 1)."""
    return np.full(len(query), 1.0 / query.relevant.sum())


def essential_loss_bounds_ndcg(query: RankedQuery) -> Sides:
    """Return the sides of 1 − NDCG ≤ L_β1/N (theorem 1, 1)."""
    return 1.0 - query.ndcg, essential_loss(query, gain_weights(query))


def essential_loss_bounds_map(query: RankedQuery) -> Sides:
    """Return the sides of 1 − MAP ≤ L_β2/Σ n_i (theorem 1, 2)."""
    return 1.0 - query.average_precision, essential_loss(query, equal_weights(query))


def pairwise_loss_bounds_essential_loss(query: RankedQuery, phi: Phi, weigh: Weigh) -> Sides:
    """Return the sides of L_β ≤ max β · Σ φ(f_i − f_j) over pairs with y_i > y_j (theorem 2, 1)."""
    weights = weigh(query)
    return essential_loss(query, weights), _largest(weights) * pairwise_loss(query, phi)


def listmle_bounds_essential_loss(query: RankedQuery, weigh: Weigh) -> Sides:
    """Return the sides of L_β ≤ max β/ln 2 · ListMLE (theorem 2, 2), for the permutation of least ListMLE."""
    weights = weigh(query)
    return essential_loss(query, weights), _largest(weights) * listmle_loss(query, np.ones(len(query)))


def weighted_pairwise_loss_bounds_essential_loss(query: RankedQuery, phi: Phi) -> Sides:
    """Return the sides of L_β1/N ≤ Σ G_i D(1 + #{k: y_k > y_i}) φ(f_i − f_j)/N (section 4)."""
    return essential_loss(query, gain_weights(query)), weighted_pairwise_loss(query, phi)


def pairwise_loss_bounds_its_weighted_form(query: RankedQuery, phi: Phi) -> Sides:
    """Return the sides of: weighted form ≤ max β1/N · Σ φ(f_i − f_j) (section 4).

    The weighted form is the tighter bound.
    """
    loosest = _largest(gain_weights(query)) * pairwise_loss(query, phi)
    return weighted_pairwise_loss(query, phi), loosest


def weighted_listmle_bounds_essential_loss(query: RankedQuery) -> Sides:
    """Return the sides of L_β1/N ≤ Σ G(y_s) D(s) [ln Σ_{i ≥ s} e^f_i − f_s]/(N ln 2) (section 4)."""
    weights = gain_weights(query)
    return essential_loss(query, weights), listmle_loss(query, weights)


def listmle_bounds_its_weighted_form(query: RankedQuery) -> Sides:
    """Return the sides of: weighted form ≤ max β1/(N ln 2) · ListMLE (section 4).

    The weighted form is the tighter bound.
    """
    weights = gain_weights(query)
    return listmle_loss(query, weights), _largest(weights) * listmle_loss(query, np.ones(len(query)))


def weighted_pairwise_loss(query: RankedQuery, phi: Phi) -> float:
    """Return Σ G_i D(1 + #{k: y_k > y_i}) φ(f_i − f_j)/N over the pairs with y_i > y_j (section 4)."""
    above = query.preferred.sum(axis=0)  # documents of larger label
    weights = query.gains / query.discounts[above.astype(np.int64)]
    return float((weights[query.pairs[0]] * phi(query.pair_differences)).sum())


def pairwise_loss(query: RankedQuery, phi: Phi) -> float:
    """Return Σ φ(f_i − f_j) over the pairs with y_i > y_j (equation 2)."""
    return float(phi(query.pair_differences).sum())


def listmle_loss(query: RankedQuery, weights: Float64Array) -> float:
    """Return (weighted) ListMLE in bits, Σ_{s < n} β(s) [ln Σ_{i ≥ s} e^f_i − f_s]/ln 2, weights β (n,)."""
    return float((weights[:-1] * _listmle_terms(query)).sum() / np.log(2.0))


def _consistent(query: RankedQuery) -> np.ndarray:
    """Return ranks, from 0, sorted by descending label, then rank: the consistent permutation."""
    return np.argsort(-query.labels, kind="stable")


def _listmle_terms(query: RankedQuery) -> Float64Array:
    """Return −ln P(step s is right) for the steps before the last (equation 3)."""
    scores = query.scores[_consistent(query)]
    behind = np.logaddexp.accumulate(scores[::-1])[::-1]
    return np.asarray((behind - scores)[:-1])


def _largest(weights: Float64Array) -> float:
    return float(weights[:-1].max(initial=0.0))
