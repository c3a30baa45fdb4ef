"""Sorting the documents of a query by descending score, stably."""

import numpy as np

from core.jit import compiled, inlined, nonallocating
from core.types import Float64Array, Int64Array, UInt64Array

_SHORT = 64  # number of documents up to which counting is faster than buckets
_BLOCK = 32  # documents that are counted at a time, a multiple of LLVM's unrolled vectors
_MAX_MOVES_PER_DOCUMENT = 4  # with more moves, insertion sort is slower than merge sort
_MAX_SELECTION_DEPTH = 24  # at a larger depth, the maxima of groups exclude too few documents

SORT_PADDING = _SHORT


@nonallocating
def _rank_by_counting(
    scores: Float64Array, start: int, n: int, order: Int64Array, keys: Float64Array, higher: Int64Array
) -> None:
    """Rank a few documents by the number of documents that score higher: no branch is mispredicted.

    Four documents are compared with a block of documents at a time. The width is not a constant, because
    LLVM unrolls loops of constant width instead of vectorising them.
    """
    width = np.uint64(_BLOCK) * np.uint64((n + _BLOCK - 1) // _BLOCK)
    for i in range(width):
        higher[i] = 0
        higher[width + i] = 0
        keys[i] = -np.inf
    for i in range(np.uint64(n)):
        keys[i] = scores[np.uint64(start) + i]
    for j in range(np.uint64(0), np.uint64(n), np.uint64(4)):
        a, b, c, d = keys[j], keys[j + np.uint64(1)], keys[j + np.uint64(2)], keys[j + np.uint64(3)]
        for i in range(width):
            key = keys[i]
            higher[i] += (
                (1 if a > key else 0) + (1 if b > key else 0) + (1 if c > key else 0) + (1 if d > key else 0)
            )
    for i in range(np.uint64(n)):
        rank = np.uint64(higher[i])
        tie_counter = width + rank  # index of the number of earlier documents with this score
        order[rank + np.uint64(higher[tie_counter])] = np.int64(i)
        higher[tie_counter] += 1


@nonallocating
def _distribute(
    scores: Float64Array,
    start: int,
    n: int,
    highest: float,
    scale: float,
    order: Int64Array,
    buckets: Int64Array,
    sorted_scores: Float64Array,
    counters: Int64Array,
) -> None:
    """Distribute documents and their scores into buckets of descending scores (stable)."""
    n_buckets = _buckets(n)
    first, top = np.uint64(start), float(n_buckets - 1)
    counters[:n_buckets] = 0
    for i in range(np.uint64(n)):
        buckets[i] = np.int64(min((highest - scores[first + i]) * scale, top))
    for i in range(np.uint64(n)):
        counters[np.uint64(buckets[i])] += 1
    total = 0
    for bucket in range(np.uint64(n_buckets)):
        count = counters[bucket]
        counters[bucket] = total
        total += count
    for i in range(np.uint64(n)):
        document_bucket = np.uint64(buckets[i])
        rank = np.uint64(counters[document_bucket])
        counters[document_bucket] += 1
        order[rank] = np.int64(i)
        sorted_scores[rank] = scores[first + i]


@nonallocating
def _insertion_sort(n: int, order: Int64Array, sorted_scores: Float64Array) -> bool:
    """Sort documents within buckets by insertion; return False if that takes too many moves."""
    moves_left = n * _MAX_MOVES_PER_DOCUMENT
    for i in range(1, n):
        score = sorted_scores[i]
        if sorted_scores[i - 1] >= score:
            continue
        document, j = order[i], i
        while j > 0 and sorted_scores[j - 1] < score:
            sorted_scores[j], order[j] = sorted_scores[j - 1], order[j - 1]
            j -= 1
        sorted_scores[j], order[j] = score, document
        moves_left -= i - j
        if moves_left < 0:
            return False
    return True


@inlined
def _buckets(n: int) -> int:
    """Return the number of buckets for n documents: a power of two, 4 n to 8 n."""
    n_buckets = 4
    while n_buckets < 4 * n:
        n_buckets *= 2
    return n_buckets


@compiled
def sort_counters(n: int) -> Int64Array:
    """Allocate the counters of sorts of up to n documents."""
    return np.empty(max(_buckets(n), 2 * _SHORT), np.int64)


@nonallocating
def merge_sort(
    scores: Float64Array | UInt64Array, start: int, n: int, order: Int64Array, spare: Int64Array
) -> None:
    """Fill `order[:n]` with offsets from `start` by descending score, whatever the distribution of scores."""
    for i in range(n):
        order[i] = i
    source, target = order, spare
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            i, middle, end = begin, min(begin + width, n), min(begin + 2 * width, n)
            j = middle
            for k in range(begin, end):
                if j >= end or (i < middle and scores[start + source[i]] >= scores[start + source[j]]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    for i in range(n):
        order[i] = source[i]


@nonallocating
def rank_descending(
    scores: Float64Array,
    start: int,
    stop: int,
    order: Int64Array,
    spare: Int64Array,
    keys: Float64Array,
    counters: Int64Array,
) -> None:
    """Fill `order[:stop - start]` with document offsets by descending score, ties in input order.

    Short lists are ranked by counting, longer ones by distributing them to buckets that are then sorted;
    scores crowded within a small part of their range are merge sorted. Scores must not be NaN. The scratch
    arrays hold at least `stop - start + SORT_PADDING` entries, `counters` those of `sort_counters`.
    """
    n = stop - start
    if n <= _SHORT:
        _rank_by_counting(scores, start, n, order, keys, counters)
        return
    highest, lowest = scores[start], scores[start]
    for i in range(np.uint64(start), np.uint64(stop)):
        highest = max(highest, scores[i])
        lowest = min(lowest, scores[i])
    if highest == lowest:
        for i in range(np.uint64(n)):
            order[i] = np.int64(i)
        return
    scale = (_buckets(n) - 1) / (highest - lowest)
    if 0.0 < scale < np.inf:
        _distribute(scores, start, n, highest, scale, order, spare, keys, counters)
        if _insertion_sort(n, order, keys):
            return
    merge_sort(scores, start, n, order, spare)


@nonallocating
def _select_highest(
    scores: Float64Array,
    start: int,
    n: int,
    depth: int,
    order: Int64Array,
    spare: Int64Array,
    keys: Float64Array,
    counters: Int64Array,
) -> bool:
    """Fill `order[:depth]` by ranking only high scores; return False, without a ranking, if these are many.

    Documents i, i + 32, i + 64, … form one of 32 groups. The maxima of such groups are computed with vector
    instructions and without a branch. At least `depth` documents score no less than the `depth`-th
    highest group maximum: only these documents are ranked.
    """
    width, tail = np.uint64(_BLOCK), n % _BLOCK
    maxima = keys[_SHORT : _SHORT + _BLOCK]
    for i in range(width):
        maxima[i] = scores[np.uint64(start) + i]
    for block in range(1, n // _BLOCK):
        first = np.uint64(start + block * _BLOCK)
        for i in range(width):
            maxima[i] = max(maxima[i], scores[first + i])
    for i in range(tail):
        maxima[i] = max(maxima[i], scores[start + n - tail + i])
    _rank_by_counting(maxima, 0, _BLOCK, order, keys, counters)
    lowest_candidate = maxima[order[depth - 1]]
    n_candidates = 0
    for i in range(n):
        spare[n_candidates] = i
        n_candidates += 1 if scores[start + i] >= lowest_candidate else 0
    if n_candidates > _SHORT:
        return False
    for i in range(n_candidates):
        keys[_SHORT + i] = scores[start + spare[i]]
    _rank_by_counting(keys, _SHORT, n_candidates, order, keys, counters)
    for rank in range(depth):
        order[rank] = spare[order[rank]]
    return True


@nonallocating
def rank_highest(
    scores: Float64Array,
    start: int,
    stop: int,
    depth: int,
    order: Int64Array,
    spare: Int64Array,
    keys: Float64Array,
    counters: Int64Array,
) -> None:
    """Fill `order[:depth]` as `rank_descending` does, without ranking lower scores if that is faster.

    `depth` is at least 1 and at most `stop - start`; the other arguments are those of `rank_descending`.
    """
    n = stop - start
    is_selective = n > _SHORT and depth <= _MAX_SELECTION_DEPTH
    if not (is_selective and _select_highest(scores, start, n, depth, order, spare, keys, counters)):
        rank_descending(scores, start, stop, order, spare, keys, counters)
