"""Split neighbouring queries into shards of about equal work, one for each rank."""

import numpy as np

from core.errors import InvalidInput
from core.types import Int64Array


def shards(query_boundaries: Int64Array, n_ranks: int) -> Int64Array:
    """Cut queries into ranges of about equal cost; range r is `cuts[r]:cuts[r + 1]`.

    The cost of a query is its number of documents: most of the time is for histograms of trees, and grows
    with the documents. Pairs take a smaller part of the time, see `make bench-training`.

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
    ideal = query_boundaries[-1] * np.arange(n_ranks + 1) / n_ranks
    after = np.searchsorted(query_boundaries, ideal)
    before = np.maximum(after - 1, 0)
    is_before_nearer = ideal - query_boundaries[before] < query_boundaries[after] - ideal
    cuts = np.where(is_before_nearer, before, after)
    cuts[-1] = n_queries  # includes trailing queries without documents
    # Give each range a query: move cuts right as far as needed, then left.
    ranks = np.arange(n_ranks + 1)
    cuts = np.maximum.accumulate(np.maximum(cuts, ranks) - ranks) + ranks
    cuts = np.minimum(cuts, n_queries - ranks[::-1])
    return np.asarray(cuts, np.int64)
