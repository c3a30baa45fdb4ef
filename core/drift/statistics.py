"""Population stability index, and permutation tests of two samples of queries with multiple columns."""

import math
from collections.abc import Iterable

import numpy as np

from core.types import Float32Array, Float64Array, FloatArray, Int64Array

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


_MIN_PERMUTATIONS = 999
_MAX_PERMUTATIONS = 9_999  # the assignments of the largest samples take 160 MB


def smallest_p(n_comparisons: int) -> float:
    """Return the smallest p value of a comparison after the correction for `n_comparisons` comparisons."""
    return n_comparisons / (_MAX_PERMUTATIONS + 1)


def permutations_for(p: float, n_comparisons: int) -> int:
    """Return the number of permutations with which a p value can be as small as a threshold.

    The smallest p value of N permutations is 1 / (N + 1), times `n_comparisons`.

    Example:
        >>> permutations_for(0.01, 3), permutations_for(0.002, 3)
        (999, 1499)
    """
    return min(max(_MIN_PERMUTATIONS, math.ceil(n_comparisons / p) - 1), _MAX_PERMUTATIONS)


def memberships(n_before: int, n_after: int, permutations: int, seed: int) -> Float32Array:
    """Return (permutations + 1, n_queries) indicators: 1 where a query is in the later sample, else 0.

    The first row is the observed assignment; other rows are random assignments with the same sample sizes.
    """
    rng = np.random.default_rng(seed)
    later = np.zeros((permutations + 1, n_before + n_after), np.float32)
    later[:, n_before:] = 1
    rng.permuted(later[1:], axis=1, out=later[1:])
    return later


def distances(
    counts: Float32Array, later: Float32Array, *, ordered: bool, sizes: Float32Array | None = None
) -> Float64Array:
    """Return the distance between the two samples for each assignment, (n_memberships,).

    For ordered bins it is the Kolmogorov-Smirnov distance at their edges, `max_j |F_a(j) - F_b(j)|`. For
    categories it is the total variation, `1/2 Σ |a_i - b_i|`, which is additive over blocks of categories.

    Args:
        counts: (n_queries, n_bins) number of documents of each query in each bin.
        later: (n_memberships, n_queries), see `memberships`.
        ordered: Whether the bins have an order.
        sizes: (n_queries,) number of documents of each query in all bins, if `counts` has only some.
    """
    sizes = np.sum(counts, axis=1) if sizes is None else sizes
    in_later, n_later = (later @ counts).astype(np.float64), (later @ sizes).astype(np.float64)
    in_earlier = np.sum(counts, axis=0, dtype=np.float64) - in_later
    gaps = _shares(in_later, n_later) - _shares(in_earlier, np.sum(sizes, dtype=np.float64) - n_later)
    if ordered:
        return np.asarray(np.max(np.abs(np.cumsum(gaps, axis=1)), axis=1))
    return np.asarray(np.sum(np.abs(gaps), axis=1) / 2)


def adjusted_p_values(by_column: Iterable[Float64Array]) -> Float64Array:
    """Return a p value for each of several columns, adjusted for testing all of them.

    The adjustment is the single-step maxT method of Westfall and Young (Resampling-Based Multiple Testing,
    1993, section 2.6). Each distance is standardised by its permutations. The adjusted p value is the share
    of permutations whose largest standardised distance of any column is at least as large. If nothing
    differs, the probability of any p value at or below a level is at most this level, for any dependence
    between the columns. The observed assignment counts as a permutation (Phipson and Smyth, 2010, equation
    2), so that no p value is 0.

    Args:
        by_column: The (n_memberships,) distances of each column, the observed distance first.

    Returns:
        (n_columns,) adjusted p values.
    """
    standardised = np.stack([_standardised(each) for each in by_column])
    largest = np.max(standardised, axis=0)
    # The tolerance keeps rounding from making equal distances differ.
    return np.asarray(np.mean(largest >= standardised[:, :1] - 1e-9, axis=1))


def _standardised(distance: Float64Array) -> Float64Array:
    spread = float(np.std(distance))
    return (distance - np.mean(distance)) / spread if spread > 0 else np.zeros_like(distance)


def _shares(counts: Float64Array, totals: Float64Array) -> Float64Array:
    return np.asarray(counts / np.maximum(totals, 1)[:, np.newaxis])
