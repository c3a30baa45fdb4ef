"""Setting queries aside."""

import numpy as np

from core.data.dataset import RankingDataset
from core.errors import InvalidInput


def split_queries(
    dataset: RankingDataset, fraction: float, seed: int
) -> tuple[RankingDataset, RankingDataset]:
    """Split a dataset by whole queries, drawn at random; both sides keep the order of the dataset.

    Args:
        dataset: At least two queries.
        fraction: The share of queries to hold out, above 0 and below 1, rounded to whole queries, at least
            one and not all.
        seed: The same seed makes the same split.

    Returns:
        The queries to train on, and those held out.

    Raises:
        InvalidInput: When there is one query, or the fraction or the seed is out of bounds.
    """
    if not 0 < fraction < 1:
        raise InvalidInput.at("/fraction", f"must be above 0 and below 1; found {fraction}")
    if seed < 0:
        raise InvalidInput.at("/seed", f"must be at least 0; found {seed}")
    n_queries = dataset.n_queries
    if n_queries < 2:
        raise InvalidInput.at("/fraction", "cannot hold out queries of a dataset that has one query")
    n_held_out = min(max(round(fraction * n_queries), 1), n_queries - 1)
    shuffled = np.random.default_rng(seed).permutation(n_queries)
    held_out, kept = np.sort(shuffled[:n_held_out]), np.sort(shuffled[n_held_out:])
    return dataset.select_queries(kept), dataset.select_queries(held_out)
