"""Fisher's randomisation test of paired differences."""

import numpy as np

from core.errors import InvalidInput
from core.jit import compiled, nonallocating
from core.losses.randomness import mix
from core.ranges import for_kernels, over_ranges, use_threads
from core.types import Float64Array, Int64Array

EXACT_UP_TO = 20  # maximum number of differing queries for which all 2^n assignments are counted
_GROUP = 8  # queries per byte of a random word, one bit for each sign
_BLOCK = 2_048  # assignments whose sums fit in the CPU cache
_EQUAL = 1e-12  # relative to Σ|d|; sums that differ by less count as equal


def randomisation_p_values(
    differences: Float64Array, permutations: int = 100_000, seed: int = 0, threads: int = 1
) -> Float64Array:
    """Test for each column whether its paired differences have the mean 0, two-sided.

    Under the null hypothesis each query's difference has either sign with equal chance (Fisher 1935; for
    rankings Smucker, Allan and Carterette 2007). The p-value is the share of sign assignments whose sum is
    at least as far from 0 as the observed sum. If at most 20 queries differ, all 2^n assignments are counted,
    else the observed assignment and `permutations` random assignments.

    Args:
        differences: (n_queries, n_columns) finite differences; the columns share the random signs.
        seed: The same seed gives the same p-values, on any number of threads.

    Returns:
        (n_columns,) p-values; 1 where no query differs.

    Raises:
        InvalidInput: A difference is not finite or `permutations` is not positive.

    Example:
        >>> randomisation_p_values(np.array([[0.1], [0.2], [0.3]])).tolist()
        [0.25]
    """
    if permutations < 1:
        raise InvalidInput.at("/permutations", f"must be at least 1; found {permutations}")
    if not np.isfinite(differences).all():
        raise InvalidInput.at("/differences", "must be finite")
    use_threads(threads)
    values = for_kernels(differences, np.float64)
    few = np.count_nonzero(values, axis=0) <= EXACT_UP_TO
    p_values = np.ones(values.shape[1])
    for column in np.flatnonzero(few):
        p_values[column] = _exact(values[values[:, column] != 0, column])
    if not few.all():
        p_values[~few] = _sampled(np.ascontiguousarray(values[:, ~few]), permutations, seed)
    return p_values


def _exact(differences: Float64Array) -> float:
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate((sums + difference, sums - difference))
    return float(np.count_nonzero(np.abs(sums) >= _threshold(differences[:, None])[0])) / len(sums)


def _sampled(differences: Float64Array, permutations: int, seed: int) -> Float64Array:
    n_groups = -(-len(differences) // _GROUP)
    padded = np.zeros((n_groups * _GROUP, differences.shape[1]))
    padded[: len(differences)] = differences
    n_blocks = -(-permutations // _BLOCK)
    counts = np.zeros((n_blocks, differences.shape[1]), np.int64)
    over_ranges(
        _count_extremes,
        n_blocks,
        padded,
        _threshold(differences),
        permutations,
        np.uint64(seed),
        counts,
        work=permutations * len(padded),
    )
    extremes = counts.sum(axis=0)
    p_values: Float64Array = (1.0 + extremes) / (1.0 + permutations)
    return p_values


def _threshold(differences: Float64Array) -> Float64Array:
    threshold: Float64Array = np.abs(differences.sum(axis=0)) - _EQUAL * np.abs(differences).sum(axis=0)
    return threshold


@compiled
def _count_extremes(
    first_block: int,
    last_block: int,
    padded: Float64Array,
    threshold: Float64Array,
    permutations: int,
    seed: int,
    counts: Int64Array,
) -> None:
    """Count, for each block and column, the random assignments whose absolute sum reaches the threshold.

    The signed sums of each 8 queries are tabulated for all 256 signs, so that an assignment costs one
    addition for 8 queries. A table is used for a whole block of assignments while it is in the cache.
    """
    n_columns = padded.shape[1]
    all_sums, table = np.empty((_BLOCK, n_columns)), np.empty((256, n_columns))
    all_words = np.empty(_BLOCK, np.uint64)
    for block in range(first_block, last_block):
        first = block * _BLOCK
        size = min(_BLOCK, permutations - first)
        sums, words = all_sums[:size], all_words[:size]
        sums[:] = 0.0
        for group in range(len(padded) // _GROUP):
            if group % 8 == 0:
                _draw(words, seed, first, group // 8)
            _tabulate(padded[group * _GROUP : (group + 1) * _GROUP], table)
            _add(sums, table, words, np.uint64(8 * (group % 8)))
        _count(sums, threshold, counts[block])


@nonallocating
def _draw(words: Int64Array, seed: int, first: int, part: int) -> None:
    for i in range(len(words)):
        words[i] = mix(mix(seed, first + i), part)


@nonallocating
def _tabulate(group: Float64Array, table: Float64Array) -> None:
    # LLVM would unroll loops of a constant length into ten times the code.
    n_queries, n_columns = group.shape
    for column in range(n_columns):
        total = 0.0
        for query in range(n_queries):
            total -= group[query, column]
        table[0, column] = total
    for query in range(n_queries):
        size = 1 << query
        for signs in range(size):
            for column in range(n_columns):
                table[size + signs, column] = table[signs, column] + 2.0 * group[query, column]


@nonallocating
def _add(sums: Float64Array, table: Float64Array, words: Int64Array, shift: int) -> None:
    for i in range(len(words)):
        signs = np.uint64((words[i] >> shift) & np.uint64(255))
        for column in range(table.shape[1]):
            sums[i, column] += table[signs, column]


@nonallocating
def _count(sums: Float64Array, threshold: Float64Array, counts: Int64Array) -> None:
    for i in range(len(sums)):
        for column in range(len(threshold)):
            if abs(sums[i, column]) >= threshold[column]:
                counts[column] += 1
