"""The sort that all rankings use."""

import numpy as np
import pytest

from core.sorting import SORT_PADDING, rank_descending, rank_highest, sort_counters
from core.types import Float64Array

SIZES = [1, 2, 31, 32, 33, 63, 64, 65, 95, 120, 1000, 5000]


def scores_of_all_kinds(size: int) -> list[Float64Array]:
    """Draw scores that are easy and hard to sort: tied, crowded, tiny, and in either order."""
    generator = np.random.default_rng(size)
    normal = generator.normal(size=size)
    return [
        normal,
        np.round(normal),
        np.zeros(size),
        np.concatenate(([1e30], normal))[:size],
        np.concatenate(([1e7], normal))[:size],
        normal * 1e-310,
        np.sort(normal),
        np.sort(normal)[::-1].copy(),
        np.where(np.arange(size) % 32 < 16, normal, 10.0),
        np.full(size, -np.inf),
        np.where(np.arange(size) % 3 == 0, -np.inf, normal),
        np.where(np.arange(size) % 3 == 0, np.finfo(float).max, -np.finfo(float).max),
        np.exp(9 * normal),
    ]


@pytest.mark.parametrize("size", SIZES)
def test_ranking_is_a_stable_sort_whatever_the_scores(size: int) -> None:
    """Sorting by counting, by buckets and by merging agrees with numpy's stable sort, ties in input order."""
    order, spare = (np.empty(size + SORT_PADDING, np.int64) for _ in range(2))
    keys, counters = np.empty(size + SORT_PADDING), sort_counters(size)
    for scores in scores_of_all_kinds(size):
        rank_descending(scores, 0, size, order, spare, keys, counters)
        np.testing.assert_array_equal(order[:size], np.argsort(-scores, kind="stable"))


@pytest.mark.parametrize("size", SIZES)
def test_the_highest_scores_are_the_beginning_of_the_whole_ranking(size: int) -> None:
    """This holds for any number of them, and for any values before and after the scores in memory."""
    order, spare = (np.empty(size + SORT_PADDING, np.int64) for _ in range(2))
    keys, counters = np.empty(size + SORT_PADDING), sort_counters(size)
    for scores in scores_of_all_kinds(size):
        among_others = np.concatenate((np.full(7, np.inf), scores, np.full(40, np.inf)))
        expected = np.argsort(-scores, kind="stable")
        for depth in {1, 2, 10, 24, 25, 100, size}:
            if depth <= size:
                rank_highest(among_others, 7, 7 + size, depth, order, spare, keys, counters)
                np.testing.assert_array_equal(order[:depth], expected[:depth])
