"""Hold out whole queries, or draw them with replacement.

Splits by fraction and by folds are stratified by query length and by having a relevant document (a label
above 0). Queries are sorted by these two, the order is cut into runs of neighbours, and queries are drawn at
random within each run. The share of documents held out therefore equals the share of queries, give or take
the documents of a few queries.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.errors import InvalidInput
from core.types import Int64Array

Split = tuple[RankingDataset, RankingDataset]

_NAMED_IN_ERROR = 10


def split_queries(dataset: RankingDataset, fraction: float, seed: int) -> Split:
    """Hold out a share of the queries; both sides keep the order of the dataset.

    Args:
        dataset: At least two queries.
        fraction: The share of queries to hold out, above 0 and below 1, rounded to whole queries, at least
            one and not all.
        seed: The same seed makes the same split of the same dataset.

    Returns:
        The training queries, and the held-out queries.

    Raises:
        InvalidInput: There is one query, or the fraction or the seed is out of bounds.
    """
    if not 0 < fraction < 1:
        raise InvalidInput.at("/fraction", f"must be above 0 and below 1; found {fraction}")
    n_queries = dataset.n_queries
    if n_queries < 2:
        raise InvalidInput.at("/fraction", "cannot be applied to a dataset with a single query")
    n_held_out = min(max(round(fraction * n_queries), 1), n_queries - 1)
    generator = _generator(seed)
    order = _stratified_order(dataset, generator)
    # One query of each run is drawn. To have at least two queries per run, the smaller side is drawn.
    n_drawn = min(n_held_out, n_queries - n_held_out)
    cuts = np.arange(n_drawn + 1) * n_queries // n_drawn
    drawn = cuts[:-1] + generator.integers(0, np.diff(cuts))
    held_out = np.zeros(n_queries, np.bool_)
    held_out[order[drawn]] = True
    return _split(dataset, held_out if n_drawn == n_held_out else ~held_out)


def fold_queries(dataset: RankingDataset, folds: int, fold: int, seed: int) -> Split:
    """Hold out one of k folds; the folds of one seed partition the queries.

    Args:
        dataset: At least as many queries as folds.
        folds: Number of folds, at least 2. Their numbers of queries differ by at most one.
        fold: Number of the fold to hold out, from 1.
        seed: The same seed makes the same folds of the same dataset.

    Returns:
        The queries of the other folds, and the queries of this fold.

    Raises:
        InvalidInput: There are too few queries, or folds, fold or seed are out of bounds.
    """
    fold_of = fold_numbers(dataset, folds, seed)
    if not 1 <= fold <= folds:
        raise InvalidInput.at("/fold", f"must be 1 to {folds}, the number of folds; found {fold}")
    return _split(dataset, fold_of == fold)


def fold_numbers(dataset: RankingDataset, folds: int, seed: int) -> Int64Array:
    """Assign each query to one of k folds.

    Args:
        dataset: At least as many queries as folds.
        folds: Number of folds, at least 2. Their numbers of queries differ by at most one.
        seed: The same seed makes the same folds of the same dataset.

    Returns:
        (n_queries,) numbers from 1 to `folds`.

    Raises:
        InvalidInput: There are too few queries, or folds or seed are out of bounds.
    """
    n_queries = dataset.n_queries
    if not 2 <= folds <= n_queries:
        raise InvalidInput.at("/folds", f"must be 2 to {n_queries}, the number of queries; found {folds}")
    generator = _generator(seed)
    order = _stratified_order(dataset, generator)
    runs = np.tile(np.arange(1, folds + 1), (-(-n_queries // folds), 1))
    fold_of = np.empty(n_queries, np.int64)
    fold_of[order] = generator.permuted(runs, axis=1).ravel()[:n_queries]
    return fold_of


def column_queries(dataset: RankingDataset, column: str, values: Sequence[str]) -> Split:
    """Hold out the queries that have one of the given values in a column.

    Returns:
        The other queries, and the held-out queries.

    Raises:
        InvalidInput: There is no such column or value, or all queries have such a value.
    """
    of_queries = query_column(dataset, column, "/column")
    distinct = set(of_queries)
    for i, value in enumerate(values):
        if value not in distinct:
            raise InvalidInput.at(
                f"/values/{i}",
                f"must be a value in {column} ({_listed(sorted(distinct))}); found {value!r}",
            )
    held_out_values = frozenset(values)
    held_out = np.fromiter((value in held_out_values for value in of_queries), np.bool_, len(of_queries))
    if not held_out.any() or held_out.all():
        raise InvalidInput.at(
            "/values", f"must list at least one value of {column}, and must leave at least one query"
        )
    return _split(dataset, held_out)


def bootstrap_queries(dataset: RankingDataset, seed: int) -> RankingDataset:
    """Draw a bootstrap sample: as many queries as the dataset has, with replacement.

    The sample is expressed by weights: a query that is drawn n times counts n times, others have weight 0.
    Features and their bins are unchanged.

    Args:
        dataset: At least one query with a weight above 0.
        seed: The same seed draws the same sample of the same number of queries.

    Returns:
        The dataset with each query's weight multiplied by the number of times that it was drawn. A sample of
        which all queries have weight 0 is drawn again.
    """
    generator = _generator(seed)
    dataset_weights = np.ones(dataset.n_queries) if dataset.query_weights is None else dataset.query_weights
    weights = np.zeros(dataset.n_queries)
    while not weights.any() and dataset_weights.any():
        drawn = generator.integers(0, dataset.n_queries, dataset.n_queries)
        weights = dataset_weights * np.bincount(drawn, minlength=dataset.n_queries)
    return replace(dataset, query_weights=weights)


def query_column(dataset: RankingDataset, column: str, pointer: str) -> tuple[str, ...]:
    """Return the values of a column of the queries.

    Raises:
        InvalidInput: There is no such column.
    """
    if column not in dataset.query_columns:
        columns = _listed(sorted(dataset.query_columns)) or "none"
        raise InvalidInput.at(pointer, f"must be a column of the queries ({columns}); found {column!r}")
    return dataset.query_columns[column]


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise InvalidInput.at("/seed", f"must be at least 0; found {seed}")
    return np.random.default_rng(seed)


def _stratified_order(dataset: RankingDataset, generator: np.random.Generator) -> Int64Array:
    """Return the queries sorted by having a relevant document, then by length; ties are in random order."""
    starts = dataset.query_boundaries[:-1]
    has_relevant = np.maximum.reduceat(dataset.labels > 0, starts)
    return np.lexsort((generator.permutation(len(starts)), np.diff(dataset.query_boundaries), has_relevant))


def _split(dataset: RankingDataset, held_out: npt.NDArray[np.bool_]) -> Split:
    return (
        dataset.select_queries(np.flatnonzero(~held_out)),
        dataset.select_queries(np.flatnonzero(held_out)),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED_IN_ERROR]) + (", …" if len(names) > _NAMED_IN_ERROR else "")
