"""Bounds of softmax cross entropy on binary labels (Bruch et al. 2019, theorems 1 to 3), in nats.

Each function that is named `…_bounds_…` returns the lower and the upper side for one query. The theorem on
means over queries follows by Jensen's inequality. Documents with a label above 0 are relevant. The proofs do
not hold for graded labels, as the paper notes.
"""

import numpy as np

from core.diagnostics.ranked_query import RankedQuery, Sides


def softmax_bounds_reciprocal_rank(query: RankedQuery) -> Sides:
    """Return the sides of −ln RR ≤ the loss (theorem 2; theorem 1 where one document is relevant)."""
    first = int(np.argmax(query.relevant))
    return float(np.log(first + 1.0)), softmax_loss(query)


def softmax_bounds_ndcg(query: RankedQuery) -> Sides:
    """Return the sides of −ln NDCG ≤ the loss (theorem 3)."""
    binary = RankedQuery(query.scores, query.relevant)
    return float(-np.log(binary.ndcg)), softmax_loss(query)


def softmax_loss(query: RankedQuery) -> float:
    """Return −Σ P_y ln softmax(f), P_y = y/Σy (equation 7) of the binary labels."""
    total = np.logaddexp.reduce(query.scores)
    return float((query.relevant * (total - query.scores)).sum() / query.relevant.sum())
