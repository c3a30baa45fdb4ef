"""EM of the position-based model (examination by rank) and the user browsing model (also by last click)."""

import numpy as np
import numpy.typing as npt

from core.clicks.models.layout import CLICKED, EXAMINED, SUCCESSES, TRIALS, PairSums, QueryBlocks
from core.jit import nonallocating
from core.types import Float64Array, Int32Array, Int64Array


def examination_indices(model: str, max_rank: int) -> Int32Array:
    """Return the index of the examination parameter by rank and rank of the last click.

    Args:
        model: `pbm` for one parameter per rank; `ubm` for one per rank and rank of the last click above, 0
            for none.
        max_rank: Greatest rank.

    Returns:
        (max_rank + 1, max_rank + 1) indices from 0; -1 where the last click would be at or below the rank.
    """
    indices = np.full((max_rank + 1, max_rank + 1), -1, np.int32)
    ranks, previous = np.tril_indices(max_rank + 1, -1)
    indices[ranks, previous] = ranks - 1 if model == "pbm" else np.arange(len(ranks))
    return indices


def browsing_pass(
    lists: QueryBlocks,
    weights: Float64Array,
    indices: Int32Array,
    attractiveness: Float64Array,
    examination: Float64Array,
) -> tuple[PairSums, Float64Array]:
    """Return the expected sums of one EM iteration.

    With p = θα, an impression without a click is attractive with probability (1−θ)α / (1−p) and examined with
    (1−α)θ / (1−p). A clicked impression is both (Chuklin, Markov and de Rijke 2015, equations 4.22 and 4.30).
    A click at the same rank is not a click above.

    Args:
        weights: (n_lists,) weight of each list, in the order of the blocks.
        indices: Indices of examination parameters, see `examination_indices`.
        attractiveness: (n_pairs,) α.
        examination: (n_examinations,) θ.

    Returns:
        Sums by pair, and (n_examinations, 2) examined impressions and all impressions by index.
    """
    pairs = PairSums.zeros(len(attractiveness))
    by_index = np.zeros((lists.n_blocks, len(examination), 2))
    lists.run(_expect, weights, indices, attractiveness, examination, pairs.values, by_index)
    return pairs, by_index.sum(axis=0)


@nonallocating
def _expect(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
    weights: Float64Array,
    indices: Int32Array,
    attractiveness: Float64Array,
    examination: Float64Array,
    sums: Float64Array,
    by_index: Float64Array,
) -> None:
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            weight = weights[entry]
            if weight == 0.0:
                continue
            start, stop = boundaries[entry], boundaries[entry + 1]
            previous = clicked = 0  # ranks of the last click above, and of the last click
            for i in range(start, stop):
                pair, rank = pairs[i], ranks[i]
                if clicked < rank:
                    previous = clicked
                index = indices[rank, previous]
                attractive = examined = weight
                if clicks[i]:
                    clicked = rank
                    sums[pair, CLICKED] += weight
                else:
                    alpha, theta = attractiveness[pair], examination[index]
                    scale = weight / (1.0 - alpha * theta)
                    attractive = (1.0 - theta) * alpha * scale
                    examined = (1.0 - alpha) * theta * scale
                sums[pair, SUCCESSES] += attractive
                sums[pair, TRIALS] += weight
                sums[pair, EXAMINED] += examined
                by_index[block, index, 0] += examined
                by_index[block, index, 1] += weight
