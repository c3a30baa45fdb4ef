"""Ranking inside a query: order by descending score, discounts, and what labels alone decide."""

import numpy as np

from core.jit import compiled
from core.types import Float64Array, FloatArray, Int32Array, Int64Array

_RUN = 12  # documents in a run that insertion sort orders faster than merging would


@compiled
def rank_descending(
    scores: Float64Array,
    start: int,
    stop: int,
    order: Int64Array,
    keys: Float64Array,
    spare_order: Int64Array,
    spare_keys: Float64Array,
) -> None:
    """Fill `order[:stop - start]` with document offsets by descending score, ties in input order.

    A merge sort over short runs. The four scratch arrays hold at least `stop - start` entries.
    """
    n = stop - start
    for begin in range(0, n, _RUN):
        end = min(begin + _RUN, n)
        for i in range(begin, end):
            key = scores[start + i]
            j = i
            while j > begin and keys[j - 1] < key:
                keys[j] = keys[j - 1]
                order[j] = order[j - 1]
                j -= 1
            keys[j] = key
            order[j] = i
    source_keys, source_order = keys, order
    target_keys, target_order = spare_keys, spare_order
    width = _RUN
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            i, j = begin, middle
            for k in range(begin, end):
                if j >= end or (i < middle and source_keys[i] >= source_keys[j]):
                    target_keys[k] = source_keys[i]
                    target_order[k] = source_order[i]
                    i += 1
                else:
                    target_keys[k] = source_keys[j]
                    target_order[k] = source_order[j]
                    j += 1
        source_keys, target_keys = target_keys, source_keys
        source_order, target_order = target_order, source_order
        width *= 2
    if width > _RUN:
        for k in range(n):
            order[k] = source_order[k]


def log2_discounts(n: int) -> Float64Array:
    """Return 1/D(r) = 1/log2(1 + r) for the ranks r = 1..n."""
    return 1.0 / np.log2(np.arange(2, n + 2, dtype=np.float64))


def exp2_gains(labels: FloatArray) -> Float64Array:
    """Return the gains g(y) = 2^y − 1."""
    return np.exp2(np.asarray(labels, np.float64)) - 1.0


def label_order(labels: FloatArray, query_boundaries: Int64Array) -> Int64Array:
    """Return row numbers sorted by query, then descending label, ties in input order."""
    queries = np.repeat(np.arange(len(query_boundaries) - 1), np.diff(query_boundaries))
    return np.lexsort((-np.asarray(labels, np.float64), queries))


def label_levels(labels: FloatArray, query_boundaries: Int64Array) -> tuple[Int32Array, Int64Array]:
    """Number the distinct labels of each query, the largest label first.

    Returns:
        levels: (n_documents,) level of each document, 0 for the query's largest label.
        counts: (n_queries,) number of distinct labels.
    """
    n_documents, n_queries = len(labels), len(query_boundaries) - 1
    sizes = np.diff(query_boundaries)
    order = label_order(labels, query_boundaries)
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
    labels: FloatArray,
    gains: Float64Array,
    query_boundaries: Int64Array,
    discounts: Float64Array,
    cutoff: int | None,
) -> Float64Array:
    """Return maxDCG of each query: the DCG of its documents by descending label, of the top `cutoff`.

    Args:
        labels: (n_documents,) the labels that decide the ideal order.
        gains: (n_documents,) gain of each document.
        query_boundaries: (n_queries + 1,) offsets.
        discounts: 1/D(r) for the ranks from 1 to at least the longest query's length.
        cutoff: Documents that count, all when None.
    """
    sizes = np.diff(query_boundaries)
    order = label_order(labels, query_boundaries)
    ranks = np.arange(len(labels)) - np.repeat(query_boundaries[:-1], sizes)
    summands = gains[order] * discounts[ranks]
    if cutoff is not None:
        summands[ranks >= cutoff] = 0.0
    sums = np.zeros(len(sizes))
    if summands.size:
        sums[sizes > 0] = np.add.reduceat(summands, query_boundaries[:-1][sizes > 0])
    return sums
