"""Sums of clicks by pair and by rank in one pass, which determine click models in closed form."""

import numpy as np
import numpy.typing as npt

from core.clicks.models.layout import CLICKED, EXAMINED, SATISFIED, SUCCESSES, TRIALS, PairSums, QueryBlocks
from core.jit import inlined, nonallocating
from core.types import Float64Array, Int32Array, Int64Array

# Last impression of a list to count as examined: the last of all, the first click, or the last click.
ALL, FIRST_CLICK, LAST_CLICK = 0, 1, 2
# Columns of the sums by rank: impressions that count, their clicks, and clicks before the last one.
RANK_TRIALS, RANK_CLICKS, RANK_NOT_LAST = 0, 1, 2


def count_clicks(
    lists: QueryBlocks, weights: Float64Array, until: int, trials_per_impression: Float64Array
) -> tuple[PairSums, Float64Array]:
    """Count clicks and examined impressions by pair and rank.

    A list without clicks counts as examined to its end (PyClick's convention; Guo 2009, section 4).

    Args:
        weights: (n_lists,) weight of each list, in the order of the blocks.
        until: Last impression of a list that counts: `ALL`, `FIRST_CLICK` or `LAST_CLICK`.
        trials_per_impression: (max_rank + 1,) trials that an impression at each rank counts as: 1, or for
            `coec` the click rate of the rank.

    Returns:
        Sums by pair, and (max_rank + 1, 3) sums by rank: impressions that count by `until`, their clicks, and
        clicks before the last one.
    """
    pairs = PairSums.zeros(lists.log.n_pairs)
    by_rank = np.zeros((lists.n_blocks, lists.max_rank + 1, 3))
    lists.run(_count, weights, until, trials_per_impression, pairs.values, by_rank)
    return pairs, by_rank.sum(axis=0)


@inlined
def last_click(clicks: npt.NDArray[np.bool_], start: int, stop: int) -> int:
    """Return the index of the last click of a list, `start - 1` without clicks."""
    index = stop - 1
    while index >= start and not clicks[index]:
        index -= 1
    return index


@nonallocating
def _count(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
    weights: Float64Array,
    until: int,
    trials_per_impression: Float64Array,
    sums: Float64Array,
    by_rank: Float64Array,
) -> None:
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            weight = weights[entry]
            start, stop = boundaries[entry], boundaries[entry + 1]
            final = last_click(clicks, start, stop)
            end = stop if until != LAST_CLICK or final < start else final + 1
            for i in range(start, end):
                pair, rank = pairs[i], ranks[i]
                sums[pair, TRIALS] += weight * trials_per_impression[rank]
                sums[pair, EXAMINED] += weight * trials_per_impression[rank]
                by_rank[block, rank, RANK_TRIALS] += weight
                if clicks[i]:
                    sums[pair, SUCCESSES] += weight
                    sums[pair, CLICKED] += weight
                    by_rank[block, rank, RANK_CLICKS] += weight
                    if i == final:
                        sums[pair, SATISFIED] += weight
                    else:
                        by_rank[block, rank, RANK_NOT_LAST] += weight
                    if until == FIRST_CLICK:
                        break
