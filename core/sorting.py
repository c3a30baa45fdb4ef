"""Sorting the documents of a query by descending score, stably."""

import numpy as np

from core.jit import bare
from core.types import Float64Array, Int64Array

_SHORT = 32  # up to here counting is faster than distributing; a multiple of the vector width
_KEY_BITS = 16  # keys need not tell all documents apart, what they cannot is mended
_DIGIT_BITS = 8
_DIGITS = 2
_BUCKETS = 1 << _DIGIT_BITS
_MOVES_A_DOCUMENT = 4  # mending beyond this is slower than merging

SORT_PADDING = _SHORT
SORT_COUNTERS = _DIGITS * _BUCKETS


@bare
def _rank_by_counting(
    scores: Float64Array, start: int, n: int, order: Int64Array, keys: Float64Array, seen: Int64Array
) -> None:
    """Count for each of a few documents those that score higher: no branch to mispredict."""
    for i in range(np.uint64(_SHORT)):
        seen[i] = 0
        keys[i] = -np.inf
    for i in range(np.uint64(n)):
        keys[i] = scores[np.uint64(start) + i]
    for i in range(np.uint64(n)):
        key = keys[i]
        count = 0.0
        for j in range(np.uint64(_SHORT)):
            count += 1.0 if keys[j] > key else 0.0
        higher = np.uint64(count)
        order[higher + np.uint64(seen[higher])] = np.int64(i)
        seen[higher] += 1


@bare
def _distribute(
    scores: Float64Array,
    start: int,
    n: int,
    highest: float,
    scale: float,
    order: Int64Array,
    spare: Int64Array,
    counters: Int64Array,
) -> None:
    """Sort documents by a 16-bit key that falls with the score, least significant digit first (stable)."""
    mask = _BUCKETS - 1
    counters[:SORT_COUNTERS] = 0
    top = float((1 << _KEY_BITS) - 1)
    for i in range(n):
        key: int = np.int64(min((highest - scores[start + i]) * scale, top))  # type: ignore[assignment]
        order[i] = (key << 32) | i
        for digit in range(_DIGITS):
            counters[np.uint64(digit * _BUCKETS + ((key >> (digit * _DIGIT_BITS)) & mask))] += 1
    source, target = order, spare
    for digit in range(_DIGITS):
        base, shift = digit * _BUCKETS, 32 + digit * _DIGIT_BITS
        if counters[base + ((source[0] >> shift) & mask)] == n:
            continue  # all share the digit
        total = 0
        for bucket in range(base, base + _BUCKETS):
            count = counters[bucket]
            counters[bucket] = total
            total += count
        for i in range(np.uint64(n)):
            packed = source[i]
            slot = np.uint64(base + ((packed >> shift) & mask))
            target[np.uint64(counters[slot])] = packed
            counters[slot] += 1
        source, target = target, source
    for i in range(np.uint64(n)):
        order[i] = source[i] & 0xFFFFFFFF


@bare
def _mend(scores: Float64Array, start: int, n: int, order: Int64Array) -> bool:
    """Put documents of equal key but different score in order; tell whether that was little work."""
    left = n * _MOVES_A_DOCUMENT
    for i in range(1, n):
        document = order[i]
        score = scores[start + document]
        j = i
        while j > 0 and scores[start + order[j - 1]] < score:
            order[j] = order[j - 1]
            j -= 1
            left -= 1
        order[j] = document
        if left < 0:
            return False
    return True


@bare
def _merge_sort(scores: Float64Array, start: int, n: int, order: Int64Array, spare: Int64Array) -> None:
    """Sort from scratch, whatever the distribution of scores."""
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


@bare
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

    Short lists are ranked by counting, longer ones by distributing 16-bit keys and mending what the keys
    could not tell apart; scores crowded within a small part of their range are merge sorted. Scores must
    not be NaN. The scratch arrays hold at least `stop - start + SORT_PADDING` entries, `counters`
    SORT_COUNTERS.
    """
    n = stop - start
    if n <= _SHORT:
        _rank_by_counting(scores, start, n, order, keys, counters)
        return
    highest, lowest = scores[start], scores[start]
    for i in range(start + 1, stop):
        highest = max(highest, scores[i])
        lowest = min(lowest, scores[i])
    scale = ((1 << _KEY_BITS) - 1) / (highest - lowest) if highest > lowest else 0.0
    if scale < np.inf:
        _distribute(scores, start, n, highest, scale, order, spare, counters)
        if _mend(scores, start, n, order):
            return
    _merge_sort(scores, start, n, order, spare)
