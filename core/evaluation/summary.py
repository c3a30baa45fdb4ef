"""From one value a query to a mean with its uncertainty."""

from dataclasses import dataclass

import numpy as np

from core.types import Float64Array

_RESAMPLES = 2_000
_BLOCK = 4_000_000  # resampled values held at a time, 32 MB


@dataclass(frozen=True)
class Summary:
    """The mean of a metric over queries.

    Attributes:
        mean: Mean over the queries on which the metric is defined; None without any.
        lower: Lower end of the 95% bootstrap interval of the mean.
        upper: Upper end.
        queries: Queries that count.
        skipped: Queries on which the metric is undefined.
    """

    mean: float | None
    lower: float | None
    upper: float | None
    queries: int
    skipped: int


def summarise(values: Float64Array, seed: int = 0) -> Summary:
    """Summarise a metric's values.

    The interval is the percentile bootstrap over queries (Efron 1979), 2,000 resamples.

    Args:
        values: (n_queries,) values, NaN where undefined.
        seed: Seed of the resampling; the same seed gives the same interval.

    Example:
        >>> summarise(np.array([0.5, 0.5, np.nan]))
        Summary(mean=0.5, lower=0.5, upper=0.5, queries=2, skipped=1)
    """
    defined = values[~np.isnan(values)]
    skipped = len(values) - len(defined)
    if not len(defined):
        return Summary(None, None, None, 0, skipped)
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // len(defined))
    means = [
        defined[generator.integers(0, len(defined), (min(rows, _RESAMPLES - done), len(defined)))].mean(
            axis=1
        )
        for done in range(0, _RESAMPLES, rows)
    ]
    lower, upper = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Summary(float(defined.mean()), float(lower), float(upper), len(defined), skipped)
