"""Costs of a ranking and the losses that bound them (Wang et al. 2018, section 5), in bits.

Each function that is named `…_bounds_…` returns the lower and the upper side of one inequality for one query.
Ranks follow the indicator I(s_i < s_j), so that the bounds hold for tied scores, too: log2(1 + e^0) = 1.
"""

import numpy as np

from core.diagnostics.ranked_query import RankedQuery, Sides
from core.gains import distance_weights
from core.types import Float64Array


def ndcg_cost(query: RankedQuery) -> float:
    """Return NDCGcost = Σ G_i (1 − 1/D_i) (equation 14)."""
    return float((query.gains * (1.0 - 1.0 / query.discounts)).sum())


def lambdarank_metric(query: RankedQuery) -> float:
    """Return Σ G_i Σ_{j < i} |1/D_i − 1/D_j| (equation 17)."""
    return float((query.gains * np.tril(_rho(query), -1).sum(axis=1)).sum())


def arp(query: RankedQuery) -> float:
    """Return ARP = Σ y_i i (equation 13)."""
    return float((query.labels * np.arange(1, len(query) + 1)).sum())


def arp_loss1_bounds_arp(query: RankedQuery) -> Sides:
    """Return the sides of ARP ≤ ARP-Loss1 + C1 (section 5.1).

    The printed terms of j = i are left out, as they only loosen the bound.
    """
    return arp(query), _loss1(query, query.labels) + float(query.labels.sum())


def arp_loss2_bounds_arp(query: RankedQuery) -> Sides:
    """Return the sides of ARP ≤ ARP-Loss2 + C1 + C2 + C3 (section 5.1).

    The printed C2 includes j = i. Without this term, as here, the paper's equality holds.
    """
    ones = 1.0 - np.eye(len(query))
    return arp(query), _loss2(query, query.labels, ones) + float(query.labels.sum())


def ndcg_loss1_bounds_ndcg_cost(query: RankedQuery) -> Sides:
    """Return the sides of NDCGcost ≤ NDCG-Loss1 (section 5.2).

    NDCG-Loss1 is Σ_i Σ_{j ≠ i} G_i/D_i log2(1 + e^−(s_i − s_j)). As in ARP-Loss1, the printed terms of j = i
    are left out.
    """
    return ndcg_cost(query), _loss1(query, query.gains / query.discounts)


def ndcg_loss2_bounds_ndcg_cost(query: RankedQuery) -> Sides:
    """Return the sides of NDCGcost ≤ NDCG-Loss2 + C2 + C3 (equation 16).

    C2 and C3 depend only on the ranking and are constant in the M-step, but the bound needs them. For two
    documents with the same label, NDCG-Loss2 is 0 and NDCGcost is not.
    """
    return ndcg_cost(query), _loss2(query, query.gains, _delta(query))


def lambdarank_loss_bounds_its_metric(query: RankedQuery) -> Sides:
    """Return the sides of Metric_LambdaRank ≤ LambdaRank's loss + C2 + C3 (proposition 5.1)."""
    return lambdarank_metric(query), _loss2(query, query.gains, _rho(query))


def ndcg_loss2pp_bounds_both_metrics(query: RankedQuery) -> Sides:
    """Return the sides of Metric_LambdaRank + μ NDCGcost ≤ NDCG-Loss2++ + C2 + C3 (equation 19)."""
    mu = query.terms.mu
    lower = lambdarank_metric(query) + mu * ndcg_cost(query)
    return lower, _loss2(query, query.gains, _rho(query) + mu * _delta(query))


def lambdarank_metric_bounds_ndcg_cost(query: RankedQuery) -> Sides:
    """Return the sides of NDCGcost ≤ Metric_LambdaRank (section 5.3)."""
    return ndcg_cost(query), lambdarank_metric(query)


def _loss1(query: RankedQuery, weights: Float64Array) -> float:
    """Return Σ_i w_i Σ_{j ≠ i} log2(1 + e^−(s_i − s_j)), weights (n,)."""
    logistic = query.log2_logistic.sum(axis=1) - query.log2_logistic.diagonal()
    return float((weights * logistic).sum())


def _loss2(query: RankedQuery, gains: Float64Array, weights: Float64Array) -> float:
    """Return Σ_{y_i > y_j} w_ij |g_i − g_j| log2(1 + e^−(s_i − s_j)) + C2 + C3.

    Weights are (n, n), 0 for i = j.
    """
    gap = gains[:, None] - gains[None, :]
    loss = (weights * gap * query.preferred * query.log2_logistic).sum()
    lesser = np.minimum(gains[:, None], gains[None, :])
    constants = 0.5 * (weights * lesser).sum()  # the matrix has each pair twice, with its smaller gain
    return float(loss + constants)


def _rho(query: RankedQuery) -> Float64Array:
    inverse = 1.0 / query.discounts
    return np.asarray(np.abs(inverse[:, None] - inverse[None, :]))


def _delta(query: RankedQuery) -> Float64Array:
    ranks = np.arange(len(query))
    return np.asarray(distance_weights(1.0 / query.discounts)[np.abs(ranks[:, None] - ranks[None, :])])
