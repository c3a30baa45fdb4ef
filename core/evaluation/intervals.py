"""95% confidence intervals of means over queries."""

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.evaluation.bootstrap import LEVEL, RESAMPLES, bootstrap_intervals
from core.types import Float64Array

MANY_QUERIES = 1_000  # from this number on, the percentile bootstrap has its nominal coverage
_UNBOUNDED = (-np.inf, np.inf)
_LEVELS = (1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0
_SYMMETRIC = 1e-6  # below this skewness, the transformed quantile equals t up to rounding


def mean_intervals(
    values: Float64Array,
    bounds: tuple[float, float] | Float64Array = _UNBOUNDED,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    threads: int = 1,
) -> tuple[Float64Array, Float64Array]:
    """Return the 95% interval of each column's mean over the population of queries.

    From 1,000 queries on, it is the percentile bootstrap, which is too narrow for fewer queries with skewed
    values and many zeros. For fewer queries, an end on a bounded side follows Gaffke 2005. The bound is added
    to the values, and weights are drawn from the flat Dirichlet distribution. For values of 0 and 1 this is
    the interval of Clopper and Pearson 1934. On an unbounded side, the end is the outer end of Student's t
    interval and of its transformation for skewed values (Hall 1992).

    Args:
        values: (n_queries, n_columns) finite values; the columns share the random draws.
        bounds: Lowest and highest possible value of a query, infinite if unbounded; one pair for all columns,
            or (n_columns, 2).
        seed: The same seed gives the same interval, on any number of threads.

    Returns:
        (n_columns,) lower and upper ends; infinite on an unbounded side where there is one query.

    Raises:
        InvalidInput: There is no query.

    Example:
        >>> never = np.zeros((10, 1))
        >>> lower, upper = mean_intervals(never, (0.0, 1.0))
        >>> lower.tolist(), upper.round(1).tolist()
        ([0.0], [0.3])
    """
    n_queries, n_columns = values.shape
    if not n_queries:
        raise InvalidInput.at("/values", "must have at least one query")
    if n_queries >= MANY_QUERIES:
        return bootstrap_intervals(values, resamples=resamples, seed=seed, threads=threads)
    lowest, highest = np.broadcast_to(np.asarray(bounds, np.float64), (n_columns, 2)).T
    lower, upper = _student(values)
    bounded = np.isfinite(lowest), np.isfinite(highest)
    if bounded[0].any() or bounded[1].any():
        weights = np.random.default_rng(seed).standard_exponential((resamples, n_queries + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        # The rounding of a matrix product would depend on the number of threads.
        means = np.einsum("rq,qc->rc", weights[:, :n_queries], values)
        ends = [
            np.quantile(means + weights[:, n_queries:] * np.where(is_bounded, bound, 0.0), level, axis=0)
            for is_bounded, bound, level in zip(bounded, (lowest, highest), _LEVELS, strict=True)
        ]
        lower = np.where(bounded[0], ends[0], np.maximum(lower, lowest))
        upper = np.where(bounded[1], ends[1], np.minimum(upper, highest))
    return lower, upper


def reported_interval(lower: float, upper: float) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of an interval as stored and shown, None for both where one is infinite."""
    return (float(lower), float(upper)) if np.isfinite([lower, upper]).all() else (None, None)


def _student(values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the outer ends of Student's t interval and of its skewed form (Hall 1992, equation 3.6)."""
    n_queries = len(values)
    mean = values.mean(axis=0)
    if n_queries == 1:
        unbounded = np.full(len(mean), np.inf)
        return -unbounded, unbounded
    from scipy import special  # its import takes a tenth of a second

    centred = values - mean
    deviation = np.sqrt((centred**2).mean(axis=0))
    error = deviation / np.sqrt(n_queries - 1)
    t = special.stdtrit(n_queries - 1, _LEVELS[1])
    cubed = deviation**3  # 0 also where it underflows
    skewness = (centred**3).mean(axis=0) / np.where(cubed > 0.0, cubed, 1.0) / np.sqrt(n_queries)
    lower, upper = (np.maximum(t, sign * _unskewed(sign * t, skewness)) for sign in (1.0, -1.0))
    return mean - error * lower, mean + error * upper


def _unskewed(t: float, skewness: Float64Array) -> Float64Array:
    """Return the quantile of the studentised mean that replaces t, given the skewness of the mean."""
    skewed = np.where(np.abs(skewness) > _SYMMETRIC, skewness, 1.0)
    quantile = 3.0 / skewed * (np.cbrt(1.0 + skewed * (t - skewed / 6.0)) - 1.0)
    return np.where(np.abs(skewness) > _SYMMETRIC, quantile, t)


def columns_by_defined_queries(defined: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Group the columns that are defined for the same queries, which share the random numbers of resampling.

    Args:
        defined: (n_queries, n_columns) whether a query has a value.

    Returns:
        The column numbers of each group.

    Example:
        >>> columns_by_defined_queries(np.array([[True, False, True], [True, True, True]]))
        [[0, 2], [1]]
    """
    groups: dict[bytes, list[int]] = {}
    for column in range(defined.shape[1]):
        groups.setdefault(defined[:, column].tobytes(), []).append(column)
    return list(groups.values())
