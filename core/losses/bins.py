"""Sharing queries among threads: numba's prange splits statically, so the load is balanced beforehand."""

import heapq

import numpy as np

from core.types import Float64Array, Int64Array

_BINS = 64  # enough to share among many threads, few enough that scratch arrays are made rarely


def balanced_bins(costs: Float64Array) -> tuple[Int64Array, Int64Array]:
    """Spread queries over bins of nearly equal cost, the longest first to the emptiest bin.

    The bins decide only who computes a query, never its result.

    Args:
        costs: (n_queries,) expected time of each query, in any unit.

    Returns:
        queries: (n_queries,) query numbers, bin after bin.
        boundaries: (n_bins + 1,) offsets of the bins in `queries`.
    """
    n_bins = max(1, min(_BINS, len(costs)))
    bins: list[list[int]] = [[] for _ in range(n_bins)]
    loads = [(0.0, i) for i in range(n_bins)]
    for query in np.argsort(-costs, kind="stable"):
        load, emptiest = heapq.heappop(loads)
        bins[emptiest].append(int(query))
        heapq.heappush(loads, (load + float(costs[query]), emptiest))
    queries = np.array([query for members in bins for query in sorted(members)], np.int64)
    boundaries = np.concatenate(([0], np.cumsum([len(members) for members in bins]))).astype(np.int64)
    return queries, boundaries
