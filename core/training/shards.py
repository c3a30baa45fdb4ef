"""Split neighbouring queries into shards of about equal work, one for each rank."""

import numpy as np

from core.errors import InvalidInput
from core.types import Int64Array


def shards(query_boundaries: Int64Array, n_ranks: int) -> Int64Array:
    """Cut queries into ranges of about equal cost; range r is `cuts[r]:cuts[r + 1]`.

    A query costs as many units as it has documents: histograms of trees take most of the time, and their
    time grows with the documents. Pairs are a smaller part of it, see `make bench-training`.

    Args:
        query_boundaries: (n_queries + 1,) offsets of the documents.
        n_ranks: Number of ranges, each with at least one query.

    Returns:
        (n_ranks + 1,) positions of queries, rising from 0 to n_queries.

    Raises:
        InvalidInput: There are fewer queries than ranks.

    Example:
        >>> shards(np.array([0, 90, 100, 110, 120]), 2).tolist()
        [0, 1, 4]
    """
    n_queries = len(query_boundaries) - 1
    if n_queries < n_ranks:
        raise InvalidInput.at(
            "/distribution/ranks",
            f"each of {n_ranks} ranks needs at least one query, but there are only {n_queries}",
        )
    wanted = query_boundaries[-1] * np.arange(n_ranks + 1) / n_ranks
    after = np.searchsorted(query_boundaries, wanted)
    before = np.maximum(after - 1, 0)
    is_nearer = wanted - query_boundaries[before] < query_boundaries[after] - wanted
    cuts = np.where(is_nearer, before, after)
    cuts[-1] = n_queries  # includes trailing queries without documents
    # Give each range a query: move cuts right as far as needed, then left.
    numbers = np.arange(n_ranks + 1)
    cuts = np.maximum.accumulate(np.maximum(cuts, numbers) - numbers) + numbers
    cuts = np.minimum(cuts, n_queries - numbers[::-1])
    found: Int64Array = cuts.astype(np.int64)
    return found
