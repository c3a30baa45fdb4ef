"""The population stability index and the bins that it is computed on."""

import numpy as np

from core.types import Float64Array, FloatArray, Int64Array

BINS = 10
# Added to the count of each bin, so that the index is finite for empty bins.
_PRIOR = 0.5


def quantile_edges(values: FloatArray, bins: int) -> Float64Array:
    """Return the upper edges of all bins but the last, by quantiles of the values.

    Equal quantiles have one edge. A feature with few values has equal quantiles. There is then also a bin
    below the first quantile and a bin above all values.

    Args:
        values: (n,) without NaN.
        bins: Number of quantiles, at least 2. There are at most `bins + 1` bins.

    Example:
        >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0]), 10)[1:]
        array([0., 1.])
        >>> quantile_edges(np.arange(100.0), 4)
        array([24., 49., 74.])
    """
    if not len(values):
        return np.zeros(0)
    levels = np.arange(1, bins + 1) / bins
    edges = np.unique(np.quantile(values, levels, method="inverted_cdf").astype(np.float64))
    if len(edges) == bins:
        return edges[:-1]
    return np.concatenate([[np.nextafter(edges[0], -np.inf)], edges])


def bin_numbers(values: FloatArray, edges: Float64Array) -> Int64Array:
    """Return the bin of each value: 0 for NaN, else from 1, by the first upper edge >= the value."""
    bins = 1 + np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), 0, bins).astype(np.int64)


def population_stability_index(before: Float64Array, after: Float64Array) -> float:
    """Return Σ (a_i - b_i) ln(a_i / b_i), where a and b are the shares of two samples in the bins.

    The sum is the symmetrised Kullback-Leibler divergence, in nats. By rules of thumb, a population is stable
    below 0.1, and has changed from 0.2 or 0.25 on. Shares are of the counts plus 1/2, so that no bin is
    empty.

    Args:
        before: (n_bins,) counts.
        after: (n_bins,) counts.

    Example:
        >>> round(population_stability_index(np.array([50.0, 50.0]), np.array([70.0, 30.0])), 3)
        0.166
    """
    b = (before + _PRIOR) / np.sum(before + _PRIOR)
    a = (after + _PRIOR) / np.sum(after + _PRIOR)
    return float(np.sum((a - b) * np.log(a / b)))
