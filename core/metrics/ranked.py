"""Rank labels by score, once for all metrics."""

import numpy as np

from core.metrics.base import RankedLabels
from core.types import Float64Array, FloatArray, Int64Array


def order_by_score(scores: FloatArray, query_boundaries: Int64Array) -> Int64Array:
    """Return row numbers by query, then descending score, ties in input order."""
    queries = np.repeat(np.arange(len(query_boundaries) - 1), np.diff(query_boundaries))
    return np.lexsort((-np.asarray(scores, np.float64), queries))


def ideal_labels(labels: FloatArray, query_boundaries: Int64Array) -> Float64Array:
    """Return the labels of each query in descending order; they never change while a model trains."""
    return np.asarray(labels, np.float64)[order_by_score(labels, query_boundaries)]


def rank_labels(
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    by_label: Float64Array | None = None,
) -> RankedLabels:
    """Rank the labels by score.

    Args:
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.
        by_label: What `ideal_labels` returned, where it is at hand.
    """
    by_score = np.asarray(labels, np.float64)[order_by_score(scores, query_boundaries)]
    if by_label is None:
        by_label = ideal_labels(labels, query_boundaries)
    return RankedLabels(by_score, by_label, np.ascontiguousarray(query_boundaries, np.int64))
