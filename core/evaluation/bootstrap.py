"""Confidence intervals of means over queries, by bootstrap."""

import numpy as np

from core.errors import InvalidInput
from core.jit import nonallocating
from core.losses.randomness import mix
from core.ranges import for_kernels, over_ranges, use_threads
from core.types import Float64Array, Int64Array

RESAMPLES = 4_000
LEVEL = 0.95
# With fewer rows, percentiles contain the mean in less than 94% of samples, of two rows in half of them.
MIN_ROWS = 8
_MAX_CLUSTERS = 20_000  # the time of a resample grows with their number


def merge_clusters(clusters: Int64Array) -> Int64Array:
    """Merge more than 20,000 clusters into as many groups at random, whatever their order.

    Args:
        clusters: Index of the cluster of each item, from 0.
    """
    n_clusters = int(clusters.max(initial=-1)) + 1
    if n_clusters <= _MAX_CLUSTERS:
        return clusters
    return np.random.default_rng(0).permutation(n_clusters)[clusters] % _MAX_CLUSTERS


def bootstrap_intervals(
    values: Float64Array, *, resamples: int = RESAMPLES, seed: int = 0, threads: int = 1
) -> tuple[Float64Array, Float64Array]:
    """Return the 95% interval of each column's mean.

    The method is the percentile bootstrap over queries (Efron 1979), with percentiles expanded for few
    queries (Hesterberg 2015, section 5.3). Without the expansion, an interval would be as narrow as a normal
    interval whose standard deviation divides by n instead of n − 1.

    Args:
        values: (n_queries, n_columns) finite values; the columns share the resampled queries.
        seed: The same seed gives the same interval, on any number of threads.

    Returns:
        (n_columns,) lower and upper ends; infinite where there is one query.

    Raises:
        InvalidInput: There is no query.

    Example:
        >>> lower, upper = bootstrap_intervals(np.array([[0.2], [0.4], [0.6], [0.8]]))
        >>> bool(lower[0] < 0.5 < upper[0])
        True
    """
    n_queries = len(values)
    if not n_queries:
        raise InvalidInput.at("/values", "must have at least one query")
    sums = resampled_sums(values, resamples=resamples, seed=seed, threads=threads)
    if n_queries == 1:
        unbounded = np.full(values.shape[1], np.inf)
        return -unbounded, unbounded
    tail = _expanded_tail(n_queries)
    lower, upper = np.quantile(sums / n_queries, [tail, 1.0 - tail], axis=0)
    return lower, upper


def resampled_sums(
    values: Float64Array, *, resamples: int = RESAMPLES, seed: int = 0, threads: int = 1
) -> Float64Array:
    """Return the sum of each column over rows drawn with replacement, for statistics such as ratios.

    Args:
        values: (n_rows, n_columns) finite values; the columns share the resampled rows.
        seed: The same seed gives the same sums, on any number of threads.

    Returns:
        (resamples, n_columns) sums.
    """
    use_threads(threads)
    sums = np.zeros((resamples, values.shape[1]))
    kernel_values = for_kernels(values, np.float64)
    over_ranges(_resample, resamples, kernel_values, np.uint64(seed), sums, work=resamples * len(values))
    return sums


def interval_of(statistics: Float64Array, n_rows: int) -> tuple[float, float]:
    """Return the 95% interval of resampled statistics, with the percentiles of `bootstrap_intervals`.

    The interval is infinite where there are fewer than eight rows.

    Args:
        statistics: (resamples,) values; NaN where the statistic is undefined for a resample.
    """
    if n_rows < MIN_ROWS:
        return -np.inf, np.inf
    tail = _expanded_tail(n_rows)
    lower, upper = np.nanquantile(statistics, [tail, 1.0 - tail])
    return float(lower), float(upper)


def deviations_of_interval(n_rows: int) -> float:
    """Return half the width of a 95% interval, in standard deviations of resampled statistics.

    The result is Student's t with n − 1 degrees of freedom, times √(n / (n − 1)): resamples of n rows vary
    less than samples (Hesterberg 2015, section 5.3).

    Args:
        n_rows: Rows of the sample, at least 2.
    """
    from scipy import special

    t = special.stdtrit(n_rows - 1, (1.0 + LEVEL) / 2.0)
    return float(t * np.sqrt(n_rows / (n_rows - 1)))


def _expanded_tail(n_queries: int) -> float:
    from scipy import special

    t = special.stdtrit(n_queries - 1, (1.0 - LEVEL) / 2.0)
    return float(special.ndtr(np.sqrt(n_queries / (n_queries - 1)) * t))


@nonallocating
def _resample(first: int, last: int, values: Float64Array, seed: int, sums: Float64Array) -> None:
    for resample in range(first, last):
        _add_drawn(values, mix(seed, resample), sums[resample])


@nonallocating
def _add_drawn(values: Float64Array, key: int, sums: Float64Array) -> None:
    # Each half of a random 64-bit word selects a query by multiplication; the bias is below n / 2^32.
    n_queries = np.uint64(len(values))
    half = np.uint64(32)
    for draw in range(len(values)):
        if draw % 2 == 0:
            word = mix(key, draw)
            query = ((word >> half) * n_queries) >> half
        else:
            query = ((word & np.uint64(0xFFFFFFFF)) * n_queries) >> half
        for column in range(values.shape[1]):
            sums[column] += values[query, column]
