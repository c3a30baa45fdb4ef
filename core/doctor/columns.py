"""One pass over the feature matrix: counts of each column, and a hash of each row."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.data import RankingDataset
from core.doctor.hashing import Flags, Hashes, column_keys, hash_row
from core.jit import inlined, nonallocating
from core.ranges import over_ranges
from core.types import Float32Array, Float64Array, Int32Array, Int64Array

# Blocks depend on the data alone, so that sums are the same on any number of threads.
_BLOCK_DOCUMENTS = 4096
_MAX_SUMS = 2**18  # of all blocks together, one per feature and block
_MIN_BLOCKS = 64  # allowed for any number of features
_BATCH_BLOCKS = 16


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """Counts of the columns, and hashes of the rows, of a matrix.

    Attributes:
        minimum: (n_features,) smallest finite value, infinity if no value is finite.
        maximum: (n_features,) largest finite value, -infinity if no value is finite.
        total: (n_features,) sum of the finite values.
        missing: (n_features,) number of documents without a value.
        infinite: (n_features,) number of documents with an infinite value.
        zeros: (n_features,) number of documents whose value is 0.
        varies: (n_features,) whether any two documents differ.
        varies_in_queries: (n_features,) whether any two documents of one query differ.
        hashes: (n_documents,) hash of each document, see `core.doctor.hashing`.
        filled: (n_documents,) whether a document has a category, or a number that is neither 0 nor missing.
    """

    minimum: Float32Array
    maximum: Float32Array
    total: Float64Array
    missing: Int64Array
    infinite: Int64Array
    zeros: Int64Array
    varies: Flags
    varies_in_queries: Flags
    hashes: Hashes
    filled: Flags


@inlined
def _differ(a: float, b: float) -> bool:
    # Two NaN (missing values) count as equal, although NaN != NaN.
    return (a != b) & ((a == a) | (b == b))


@inlined
def _measure_row(
    features: Float32Array,
    row: int,
    first_row: int,
    minimum: Float32Array,
    maximum: Float32Array,
    total: Float64Array,
    missing: Int32Array,
    infinite: Int32Array,
    zeros: Int32Array,
    varies: Flags,
) -> None:
    infinity = np.float32(np.inf)
    for j in range(np.uint64(len(minimum))):
        value = features[row, j]
        magnitude = abs(value)
        finite = magnitude < infinity
        minimum[j] = value if finite & (value < minimum[j]) else minimum[j]
        maximum[j] = value if finite & (value > maximum[j]) else maximum[j]
        total[j] += value if finite else np.float32(0)
        missing[j] += np.int32(np.isnan(value))
        infinite[j] += np.int32(magnitude == infinity)
        zeros[j] += np.int32(value == np.float32(0))
        varies[j] |= _differ(value, features[first_row, j])


@nonallocating
def _measure_blocks(
    first: int,
    last: int,
    features: Float32Array,
    bits: npt.NDArray[np.uint32],
    first_document: Float32Array,
    query_boundaries: Int64Array,
    cuts: Int64Array,
    columns: Int64Array,
    keys: Hashes,
    minimum: Float32Array,
    maximum: Float32Array,
    total: Float64Array,
    missing: Int32Array,
    infinite: Int32Array,
    zeros: Int32Array,
    varies: Flags,
    varies_in_queries: Flags,
    hashes: Hashes,
    filled: Flags,
) -> None:
    for block in range(first, last):
        for query in range(cuts[block], cuts[block + 1]):
            start = query_boundaries[query] - query_boundaries[cuts[0]]
            for j in range(len(columns)):
                varies[block, j] |= _differ(features[start, j], first_document[j])
            for row in range(start, query_boundaries[query + 1] - query_boundaries[cuts[0]]):
                _measure_row(
                    features,
                    row,
                    start,
                    minimum[block],
                    maximum[block],
                    total[block],
                    missing[block],
                    infinite[block],
                    zeros[block],
                    varies_in_queries[block],
                )
                hash_row(bits, row, columns, keys, hashes, filled)


def measure_columns(dataset: RankingDataset) -> ColumnCounts:
    """Measure the feature matrix in one pass, in parallel over blocks of whole queries."""
    cuts = _blocks(dataset.query_boundaries, dataset.n_features)
    shape = (len(cuts) - 1, dataset.n_features)
    minimum, maximum = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    total = np.zeros(shape)
    missing, infinite, zeros = (np.zeros(shape, np.int32) for _ in range(3))
    varies, varies_in_queries = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    hashes = np.empty(dataset.n_documents, np.uint64)
    filled = np.empty(dataset.n_documents, np.bool_)
    first_document, columns = dataset.features[0], np.arange(dataset.n_features)
    for first in range(0, len(cuts) - 1, _BATCH_BLOCKS):
        blocks = slice(first, first + _BATCH_BLOCKS)
        batch_cuts = cuts[first : first + _BATCH_BLOCKS + 1]
        rows = slice(*dataset.query_boundaries[batch_cuts[[0, -1]]].tolist())
        features = dataset.features[rows]
        over_ranges(
            _measure_blocks,
            len(batch_cuts) - 1,
            features,
            features.view(np.uint32),
            first_document,
            dataset.query_boundaries,
            batch_cuts,
            columns,
            column_keys(dataset.n_features),
            minimum[blocks],
            maximum[blocks],
            total[blocks],
            missing[blocks],
            infinite[blocks],
            zeros[blocks],
            varies[blocks],
            varies_in_queries[blocks],
            hashes[rows],
            filled[rows],
            work=features.size,
        )
    empty = np.flatnonzero(~filled)
    for column in dataset.categorical_columns:  # the kernel takes the code 0 for the number 0
        filled[empty] |= ~np.isnan(dataset.features[empty, column])
    within = np.logical_or.reduce(varies_in_queries)
    return ColumnCounts(
        minimum=minimum.min(axis=0),
        maximum=maximum.max(axis=0),
        total=total.sum(axis=0),
        missing=missing.sum(axis=0, dtype=np.int64),
        infinite=infinite.sum(axis=0, dtype=np.int64),
        zeros=zeros.sum(axis=0, dtype=np.int64),
        varies=np.logical_or.reduce(varies) | within,
        varies_in_queries=within,
        hashes=hashes,
        filled=filled,
    )


def _blocks(query_boundaries: Int64Array, n_features: int) -> Int64Array:
    """Cut the queries into blocks of about equal numbers of documents."""
    n_documents = query_boundaries[-1]
    max_blocks = max(_MAX_SUMS // n_features, _MIN_BLOCKS)
    n_blocks = min(max(n_documents // _BLOCK_DOCUMENTS, 1), max_blocks)
    targets = np.arange(n_blocks + 1) * n_documents // n_blocks
    return np.unique(np.searchsorted(query_boundaries, targets))
