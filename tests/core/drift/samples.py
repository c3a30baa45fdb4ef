"""Samples of queries with features of several kinds, whose documents depend on their query."""

import numpy as np

from core.drift import Column, QuerySample

COLUMNS = (
    Column("normal"),
    Column("counts"),
    Column("skewed"),
    Column("of the query"),
    Column("colour", ("red", "green", "blue")),
    Column("often missing"),
)


def draw(seed: int, queries: int, shift: float = 0.0, missing: float = 0.1) -> QuerySample:
    """Draw queries of 2 to 20 documents.

    Args:
        seed: Seed of all that is drawn.
        queries: Number of queries.
        shift: Added to `normal`, whose standard deviation is 1 between queries and 1 within each.
        missing: Share of missing values of the last column.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 21, queries)
    boundaries = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    of_query = np.repeat(rng.normal(size=(queries, len(COLUMNS))), sizes, axis=0)
    values = of_query + rng.normal(size=of_query.shape)
    values[:, 0] += shift
    values[:, 1] = np.round(np.maximum(0.0, values[:, 1]))
    values[:, 2] = np.exp(values[:, 2])
    values[:, 3] = of_query[:, 3]
    values[:, 4] = np.digitize(of_query[:, 4], [-0.5, 0.5])
    values[rng.random(len(values)) < missing, 5] = np.nan
    return QuerySample(values.astype(np.float32), boundaries)
