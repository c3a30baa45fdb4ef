"""Sharing queries among threads: a range of them is a range of bins of equal cost."""

import numpy as np

from core.types import Float64Array, Int64Array

_BINS = 64  # enough to share among many threads, few enough that scratch arrays are made rarely


def balanced_bins(costs: Float64Array) -> Int64Array:
    """Cut the queries into runs of nearly equal cost.

    Neighbours stay together, which memory likes. The cuts decide only who computes a query, never its result.

    Args:
        costs: (n_queries,) expected time of each query, in any unit.

    Returns:
        (n_bins + 1,) offsets; a bin may be empty where one query costs more than a bin's share.
    """
    n_bins = max(1, min(_BINS, len(costs)))
    ends = np.cumsum(costs)
    total = ends[-1] if len(costs) else 0.0
    cuts = np.searchsorted(ends, total * np.arange(1, n_bins) / n_bins, side="left")
    return np.concatenate(([0], cuts, [len(costs)])).astype(np.int64)
