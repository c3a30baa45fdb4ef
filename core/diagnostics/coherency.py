"""Gradient coherency: does a loss push the documents that a truncated metric misses?"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from core.metrics import order_by_score
from core.types import FloatArray, Int64Array


def incoherent_queries(
    gradient: FloatArray, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, cutoff: int
) -> npt.NDArray[np.bool_]:
    """Find the queries with an incoherent gradient.

    A query is incoherent where some document in the present top k is pushed up harder than a document
    of larger label below k. The push is the negative gradient.

    Source: Marcuzzi et al. 2023, Definition 3.1, for the pairs that a metric cut at k can see.

    Args:
        gradient: (n_documents,) gradient of a loss at `scores`.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.
        cutoff: k.

    Returns:
        (n_queries,) whether each query is incoherent.
    """
    order = order_by_score(scores, query_boundaries)
    push, label = -np.asarray(gradient)[order], np.asarray(labels)[order]
    found = np.zeros(len(query_boundaries) - 1, bool)
    for query, (start, stop) in enumerate(pairwise(query_boundaries)):
        top, below = slice(start, min(start + cutoff, stop)), slice(min(start + cutoff, stop), stop)
        missed = label[below][:, None] > label[top][None, :]
        found[query] = bool((missed & (push[below][:, None] < push[top][None, :])).any())
    return found
