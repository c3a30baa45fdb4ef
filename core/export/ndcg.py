"""NDCG@10 of few documents, by numpy alone: `core.metrics` runs on threads, which the API does not."""

import numpy as np

from core.types import Float32Array, Float64Array, Int64Array

_CUTOFF = 10
_LARGEST_LABEL = 1000.0  # as in `core.metrics`: float64 ends at 2^1024


def ndcg_at_10(scores: Float64Array, labels: Float32Array, query_boundaries: Int64Array) -> Float64Array:
    """Return NDCG@10 of each query that has a relevant document, as `ndcg@10` of the default contract.

    Args:
        scores: (n_documents,); ties rank in the order of the documents.
        labels: (n_documents,); what is not judged, or below 0, is not relevant.
        query_boundaries: (n_queries + 1,).
    """
    starts = query_boundaries[:-1]
    queries = np.repeat(np.arange(len(starts)), np.diff(query_boundaries))
    ranks = np.arange(len(labels)) - starts[queries]
    weights = np.where(ranks < _CUTOFF, 1.0 / np.log2(ranks + 2.0), 0.0)
    known = np.where(labels > 0.0, labels, 0.0).astype(np.float64)
    gains = np.exp2(np.minimum(known, _LARGEST_LABEL)) - 1.0

    def dcg(by: Float64Array) -> Float64Array:
        return np.asarray(np.add.reduceat(gains[np.lexsort((-by, queries))] * weights, starts))

    ideal = dcg(gains)
    relevant = ideal > 0.0
    return np.asarray(dcg(scores)[relevant] / ideal[relevant])
