"""Ranking inside a query by given values, such as labels."""

import numpy as np

from core.types import Float64Array, FloatArray, Int32Array, Int64Array


def descending_order(values: FloatArray, query_boundaries: Int64Array) -> Int64Array:
    """Return row numbers sorted by query, then descending value, ties in input order."""
    queries = np.repeat(np.arange(len(query_boundaries) - 1), np.diff(query_boundaries))
    return np.lexsort((-np.asarray(values, np.float64), queries))


def label_levels(labels: FloatArray, query_boundaries: Int64Array) -> tuple[Int32Array, Int64Array]:
    """Number the distinct labels of each query, the largest label first.

    Returns:
        levels: (n_documents,) level of each document, 0 for the query's largest label.
        counts: (n_queries,) number of distinct labels.
    """
    n_documents, n_queries = len(labels), len(query_boundaries) - 1
    sizes = np.diff(query_boundaries)
    order = descending_order(labels, query_boundaries)
    ordered = np.asarray(labels)[order]
    starts = query_boundaries[:-1][sizes > 0]
    steps = np.ones(n_documents, np.int64)
    steps[1:] = ordered[1:] != ordered[:-1]
    steps[starts] = 1
    running = np.cumsum(steps)
    first = np.zeros(n_queries, np.int64)
    last = first - 1
    first[sizes > 0] = running[starts]
    last[sizes > 0] = running[query_boundaries[1:][sizes > 0] - 1]
    levels = np.empty(n_documents, np.int32)
    levels[order] = running - np.repeat(first, sizes)
    return levels, last - first + 1


def ideal_dcg(
    gains: Float64Array, query_boundaries: Int64Array, discounts: Float64Array, cutoff: int | None
) -> Float64Array:
    """Return maxDCG of each query: the DCG of its documents by descending gain, of the top `cutoff`.

    Args:
        gains: (n_documents,) gain of each document.
        query_boundaries: (n_queries + 1,) offsets.
        discounts: 1/D(r) for the ranks from 1 to at least the longest query's length.
        cutoff: Documents that count, all when None.
    """
    sizes = np.diff(query_boundaries)
    ranks = np.arange(len(gains)) - np.repeat(query_boundaries[:-1], sizes)
    summands = gains[descending_order(gains, query_boundaries)] * discounts[ranks]
    if cutoff is not None:
        summands[ranks >= cutoff] = 0.0
    sums = np.zeros(len(sizes))
    if summands.size:
        sums[sizes > 0] = np.add.reduceat(summands, query_boundaries[:-1][sizes > 0])
    return sums
