"""The weights w_ij of the pairs of one document with a contiguous range of partners.

The loops follow the rules of `core.losses.rows`: unsigned indices, no branches, whole blocks.
"""

import numpy as np

from core.jit import inlined
from core.losses.layout import Scratch
from core.losses.plan import (
    BY_DISCOUNTED_ROW,
    BY_DISTANCE,
    BY_LABELS,
    BY_RANKS,
    BY_ROW,
    MAP_TARGET,
    MRR_TARGET,
    PairwisePlan,
)
from core.losses.rows import BLOCK
from core.types import Float64Array, Int64Array


@inlined
def weigh(
    i: int,
    begin: int,
    blocks: int,
    kind: int,
    v: float,
    value: Float64Array,
    rank: Int64Array,
    discount: Float64Array,
    before: Float64Array,
    above: Float64Array,
    rank_factor: float,
    distance_factor: float,
    distance_weights: Float64Array,
    weight: Float64Array,
) -> None:
    """Fill the weights of the document at position i with a range of partners, by one ranking."""
    if kind == BY_RANKS:
        weigh_ranks(begin, blocks, v, value, discount[i], discount, weight)
    elif kind == BY_DISTANCE:
        _weigh_distance(
            begin,
            blocks,
            v,
            value,
            discount[i],
            discount,
            rank[i],
            rank,
            rank_factor,
            distance_factor,
            distance_weights,
            weight,
        )
    elif kind == BY_LABELS:
        _weigh_labels(begin, blocks, v, value, weight)
    elif kind == BY_ROW:
        _weigh_row(begin, blocks, v, weight)
    elif kind == BY_DISCOUNTED_ROW:
        _weigh_row(begin, blocks, v * discount[i], weight)
    elif kind == MRR_TARGET:
        _weigh_first(begin, blocks, v, value, before[i], above[i], above, weight)
    elif kind == MAP_TARGET:
        _weigh_precision(begin, blocks, v, value, rank[i], rank, before[i], above[i], before, above, weight)
    else:
        _weigh_cascade(begin, blocks, v, value, rank[i], rank, before[i], above[i], before, above, weight)


@inlined
def weigh_by_samples(
    i: int, begin: int, blocks: int, plan: PairwisePlan, truncated: bool, scratch: Scratch
) -> None:
    """Fill the weights, averaged over the drawn rankings; a pair counts in the rankings that select it."""
    weight, drawn_weight, is_selected = scratch.weight, scratch.drawn_weight, scratch.is_selected
    _weigh_row(begin, blocks, 0.0, weight)
    if plan.weighting == BY_RANKS and not truncated:
        _add_rank_distances(i, begin, blocks, plan.samples, scratch.discount, weight)
        _multiply_by_labels(begin, blocks, scratch.value[i], scratch.value, plan.samples, weight)
        return
    for sample in range(plan.samples):
        weigh(
            i,
            begin,
            blocks,
            plan.weighting,
            scratch.value[i],
            scratch.value,
            scratch.rank[sample],
            scratch.discount[sample],
            scratch.before[sample],
            scratch.above[sample],
            plan.rank_factor,
            plan.distance_factor,
            plan.distance_weights,
            drawn_weight,
        )
        if truncated:
            _add_selected(begin, blocks, i, is_selected[sample], drawn_weight, weight)
        else:
            _add(begin, blocks, drawn_weight, weight)
    _multiply(begin, blocks, 1.0 / plan.samples, weight)


@inlined
def scale_weights(
    i: int, begin: int, end: int, blocks: int, weighted: bool, gapped: bool, sigma: float, scratch: Scratch
) -> None:
    """Apply the document's weight and the score gap; set weights beyond the end of the range to zero."""
    score, weight = scratch.score, scratch.weight
    if weighted:
        _multiply(begin, blocks, scratch.document_weight[i], weight)
    if gapped:
        _divide_by_gap(begin, blocks, score[i], sigma, score, weight)
    for j in range(np.uint64(end), np.uint64(begin + blocks * BLOCK)):
        weight[j] = 0.0


@inlined
def _weigh_row(begin: int, blocks: int, v: float, weight: Float64Array) -> None:
    """Set w = v_i."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] = v


@inlined
def _weigh_labels(begin: int, blocks: int, v: float, value: Float64Array, weight: Float64Array) -> None:
    """Set w = v_i − v_j."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] = v - value[j]


@inlined
def weigh_ranks(
    begin: int,
    blocks: int,
    v: float,
    value: Float64Array,
    d: float,
    discount: Float64Array,
    weight: Float64Array,
) -> None:
    """Set w = (v_i − v_j) ρ_ij."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] = (v - value[j]) * abs(d - discount[j])


@inlined
def _weigh_distance(
    begin: int,
    blocks: int,
    v: float,
    value: Float64Array,
    d: float,
    discount: Float64Array,
    own_rank: int,
    rank: Int64Array,
    rank_factor: float,
    distance_factor: float,
    distance_weights: Float64Array,
    weight: Float64Array,
) -> None:
    """Set w = (v_i − v_j)(a ρ_ij + b δ_ij)."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        delta = distance_weights[np.uint64(abs(own_rank - rank[j]))]
        weight[j] = (v - value[j]) * (rank_factor * abs(d - discount[j]) + distance_factor * delta)


@inlined
def _weigh_first(
    begin: int,
    blocks: int,
    v: float,
    value: Float64Array,
    own_before: float,
    own_above: float,
    above: Float64Array,
    weight: Float64Array,
) -> None:
    """Set w = |ΔRR| of a swap with a document that is not relevant and has its 1/rank in `above`.

    `own_before` is the reciprocal rank of the query without the document.
    """
    base = max(own_before, own_above)
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] = (v - value[j]) * abs(base - max(above[j], own_before))


@inlined
def _weigh_precision(
    begin: int,
    blocks: int,
    v: float,
    value: Float64Array,
    own_rank: int,
    rank: Int64Array,
    own_before: float,
    own_above: float,
    before: Float64Array,
    above: Float64Array,
    weight: Float64Array,
) -> None:
    """Set w = |ΔAP|, from the sums that `layout` computes."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        change = above[j] - own_above if rank[j] < own_rank else own_before - before[j]
        weight[j] = (v - value[j]) * change


@inlined
def _weigh_cascade(
    begin: int,
    blocks: int,
    v: float,
    value: Float64Array,
    own_rank: int,
    rank: Int64Array,
    own_before: float,
    own_above: float,
    before: Float64Array,
    above: Float64Array,
    weight: Float64Array,
) -> None:
    """Set w = |ΔERR| of swapping the documents at ranks a and b > a."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        own_first = own_rank < rank[j]
        x, z = (v, value[j]) if own_first else (value[j], v)
        a, b = (own_rank + 1.0, rank[j] + 1.0) if own_first else (rank[j] + 1.0, own_rank + 1.0)
        reach_a, reach_b = (own_before, before[j]) if own_first else (before[j], own_before)
        sum_a, sum_b = (own_above, above[j]) if own_first else (above[j], own_above)
        reach_factor = (1.0 - z) / (1.0 - x)
        between = sum_b - reach_b * z / b - sum_a
        change = reach_a * (z - x) / a + between * (reach_factor - 1.0) + reach_b * (x * reach_factor - z) / b
        weight[j] = abs(change)


@inlined
def _multiply(begin: int, blocks: int, factor: float, weight: Float64Array) -> None:
    """Multiply w by a factor."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] *= factor


@inlined
def _add(begin: int, blocks: int, drawn_weight: Float64Array, weight: Float64Array) -> None:
    """Add the weights of one of several rankings to w."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] += drawn_weight[j]


@inlined
def _add_selected(
    begin: int,
    blocks: int,
    i: int,
    is_selected: Float64Array,
    drawn_weight: Float64Array,
    weight: Float64Array,
) -> None:
    """Add the weights of one of several rankings to w where it selects one of the two documents."""
    own_selected = is_selected[i]
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] += drawn_weight[j] * max(own_selected, is_selected[j])


@inlined
def _add_rank_distances(
    i: int, begin: int, blocks: int, samples: int, discount: Float64Array, weight: Float64Array
) -> None:
    """Add ρ_ij of each ranking to w, four rankings at a time."""
    sample = 0
    while sample + 3 < samples:
        first, second = discount[sample], discount[sample + 1]
        third, fourth = discount[sample + 2], discount[sample + 3]
        d1, d2, d3, d4 = first[i], second[i], third[i], fourth[i]
        for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
            distances = abs(d1 - first[j]) + abs(d2 - second[j])
            weight[j] += distances + (abs(d3 - third[j]) + abs(d4 - fourth[j]))
        sample += 4
    while sample < samples:
        last = discount[sample]
        d = last[i]
        for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
            weight[j] += abs(d - last[j])
        sample += 1


@inlined
def _multiply_by_labels(
    begin: int, blocks: int, v: float, value: Float64Array, samples: int, weight: Float64Array
) -> None:
    """Multiply w by (v_i − v_j) / samples."""
    share = 1.0 / samples
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] *= (v - value[j]) * share


@inlined
def _divide_by_gap(
    begin: int, blocks: int, s: float, sigma: float, score: Float64Array, weight: Float64Array
) -> None:
    """Divide w by 0.01 + |s_i − s_j|, LightGBM's first normalisation."""
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        weight[j] /= 0.01 + abs(s - score[j]) / sigma
