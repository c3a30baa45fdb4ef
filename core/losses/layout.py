"""One query in working order: ranked, selected, and laid out in label-sorted segments.

Position means place in the layout: first the selected documents, then a gap, then the rest, each segment by
descending label and, within a label, by rank. The gap and the end of the layout are padded with documents
that pull nothing, so that the inner loops may run in whole blocks. What depends on a ranking is held for
`samples` rankings, one where ranks are hard.
"""

from typing import NamedTuple

import numpy as np

from core.jit import bare, compiled, inlined
from core.losses.exponential import exponentials
from core.losses.plan import ERR_TARGET, MAP_TARGET, MRR_TARGET, PairwisePlan
from core.losses.randomness import mix, normal
from core.losses.rows import BLOCK
from core.losses.selection import TOP, select
from core.sorting import SORT_COUNTERS, SORT_PADDING, rank_descending
from core.types import Float64Array, Int64Array

_LOWEST_SCORE = -1e300
_RANKING_KEY, _SELECTION_KEY = 1, 2  # distinct streams of random numbers


class Scratch(NamedTuple):
    """One thread's working arrays, as long as its longest query.

    Attributes:
        order: Document offset at each rank.
        spare_order: Scratch of the sort and of the selection.
        counters: Scratch of the sort.
        weight: w of the present document with each partner; scratch of the sort before.
        part: w in one of several rankings.
        selected: 1 for selected ranks, else 0.
        deficit: How many documents of each level the top τ lacks.
        level_end: Where each level ends in the selected segment, then in the rest.
        position: Position of each document offset.
        level: Level of the label at each position.
        score: σ s at each position.
        exponential: e^{σ(s − max s)} at each position.
        value: v at each position.
        document_weight: Weight of the document at each position, where documents are weighted.
        gradient: Sum of the pairs' pulls at each position.
        hessian: Sum of the pairs' curvatures at each position.
        noisy: Scores with noise, by document offset.
        rank: (samples, n) 0-based rank at each position.
        member: (samples, n) 1 where selected, else 0, at each position.
        discount: (samples, n) 1/D at each position.
        before: (samples, n) what a target sums up over the ranks before each position.
        above: (samples, n) a second such sum.
    """

    order: Int64Array
    spare_order: Int64Array
    counters: Int64Array
    weight: Float64Array
    part: Float64Array
    selected: Int64Array
    deficit: Int64Array
    level_end: Int64Array
    position: Int64Array
    level: Int64Array
    score: Float64Array
    exponential: Float64Array
    value: Float64Array
    document_weight: Float64Array
    gradient: Float64Array
    hessian: Float64Array
    noisy: Float64Array
    rank: Int64Array
    member: Float64Array
    discount: Float64Array
    before: Float64Array
    above: Float64Array


@compiled
def make_scratch(n: int, samples: int) -> Scratch:
    """Allocate scratch arrays for queries of up to n documents."""
    padded = n + 2 * BLOCK + SORT_PADDING
    return Scratch(
        np.empty(padded, np.int64),
        np.empty(padded, np.int64),
        np.empty(SORT_COUNTERS, np.int64),
        np.empty(padded),
        np.empty(padded),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(2 * n + 2, np.int64),
        np.empty(n, np.int64),
        np.empty(padded, np.int64),
        np.empty(padded),
        np.empty(padded),
        np.empty(padded),
        np.empty(padded),
        np.empty(padded),
        np.empty(padded),
        np.empty(n),
        np.zeros((samples, padded), np.int64),
        np.zeros((samples, padded)),
        np.zeros((samples, padded)),
        np.zeros((samples, padded)),
        np.zeros((samples, padded)),
    )


@inlined
def _pad(begin: int, samples: int, scratch: Scratch) -> None:
    """Make a block of positions that pull and lose nothing: E = 0, the lowest score, all else finite."""
    for place in range(np.uint64(begin), np.uint64(begin + BLOCK)):
        scratch.exponential[place] = 0.0
        scratch.score[place] = _LOWEST_SCORE
        scratch.value[place] = 0.0
        scratch.gradient[place] = 0.0
        scratch.hessian[place] = 0.0
        for sample in range(samples):
            scratch.rank[sample, place] = 0
            scratch.discount[sample, place] = 0.0


@inlined
def _place(
    plan: PairwisePlan, start: int, n: int, n_levels: int, scores: Float64Array, scratch: Scratch
) -> int:
    """Lay the documents out by the present ranking; return the number of selected ones."""
    order, selected, ends = scratch.order, scratch.selected, scratch.level_end
    position, level_at, score = scratch.position, scratch.level, scratch.score
    exponential, value, levels = scratch.exponential, scratch.value, plan.levels
    gradient, hessian = scratch.gradient, scratch.hessian
    label_values, discounts, sigma = plan.label_values, plan.discounts, plan.sigma
    first_rank, first_discount = scratch.rank[0], scratch.discount[0]
    for slot in range(2 * n_levels):
        ends[slot] = 0
    inside = 0
    for rank in range(np.uint64(n)):
        inside += selected[rank]
        ends[levels[start + order[rank]] + (0 if selected[rank] else n_levels)] += 1
    place = 0
    for slot in range(2 * n_levels):
        if slot == n_levels:
            place += BLOCK
        size = ends[slot]
        ends[slot] = place
        place += size
    highest = sigma * scores[start + order[0]]
    for rank in range(np.uint64(n)):
        offset = order[rank]
        level = levels[start + offset]
        slot = level + (0 if selected[rank] else n_levels)
        place = ends[slot]
        ends[slot] = place + 1
        position[offset] = place
        level_at[place] = level
        score[place] = sigma * scores[start + offset]
        value[place] = label_values[start + offset]
        first_rank[place] = np.int64(rank)
        first_discount[place] = discounts[rank]
    for place in range(np.uint64(n + BLOCK)):
        hessian[place] = score[place] - highest
        gradient[place] = 0.0
    exponentials(hessian, n + BLOCK, exponential, scratch.spare_order)
    for place in range(np.uint64(n + BLOCK)):
        hessian[place] = 0.0
    for offset in range(np.uint64(n if len(plan.document_weights) > 0 else 0)):
        scratch.document_weight[position[offset]] = plan.document_weights[start + offset]
    _pad(inside, max(plan.samples, 1), scratch)
    _pad(n + BLOCK, max(plan.samples, 1), scratch)
    return inside


@bare
def _take_ranking(plan: PairwisePlan, n: int, sample: int, scratch: Scratch) -> None:
    """Write down what one of several rankings says about each position."""
    order, selected, position = scratch.order, scratch.selected, scratch.position
    rank, member, discount = scratch.rank[sample], scratch.member[sample], scratch.discount[sample]
    for r in range(n):
        place = position[order[r]]
        rank[place] = r
        member[place] = selected[r]
        discount[place] = plan.discounts[r]
    _sum_target(plan, n, sample, scratch)


@bare
def _sum_target(plan: PairwisePlan, n: int, sample: int, scratch: Scratch) -> None:
    """Sum up along a ranking what the changes of a target metric are made of."""
    if plan.weighting == MRR_TARGET:
        _find_first(n, sample, scratch)
    elif plan.weighting == MAP_TARGET:
        _sum_precisions(n, sample, scratch)
    elif plan.weighting == ERR_TARGET:
        _sum_cascade(n, sample, scratch)


@bare
def _find_first(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `above` with 1/rank, `before` with the reciprocal rank of the query without the document."""
    first, second = 0.0, 0.0
    for r in range(n):
        if scratch.value[scratch.position[scratch.order[r]]] > 0.0:
            if first == 0.0:
                first = 1.0 / (r + 1.0)
            else:
                second = 1.0 / (r + 1.0)
                break
    for r in range(n):
        place = scratch.position[scratch.order[r]]
        scratch.above[sample, place] = 1.0 / (r + 1.0)
        is_first = scratch.above[sample, place] == first
        scratch.before[sample, place] = second if is_first else first


@bare
def _sum_precisions(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `before` with n(r)/r − S(r), S the sum of 1/rank over relevant ranks, `above` with 1/r more."""
    relevant, reciprocals = 0.0, 0.0
    for r in range(n):
        place = scratch.position[scratch.order[r]]
        if scratch.value[place] > 0.0:
            relevant += 1.0
            reciprocals += 1.0 / (r + 1.0)
        scratch.before[sample, place] = relevant / (r + 1.0) - reciprocals
        scratch.above[sample, place] = scratch.before[sample, place] + 1.0 / (r + 1.0)


@bare
def _sum_cascade(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `before` with Π(1 − R) over the ranks before, `above` with ERR summed up to the rank."""
    reach, total = 1.0, 0.0
    for r in range(n):
        place = scratch.position[scratch.order[r]]
        scratch.before[sample, place] = reach
        total += reach * scratch.value[place] / (r + 1.0)
        scratch.above[sample, place] = total
        reach *= 1.0 - scratch.value[place]


@bare
def _rank_and_select(
    plan: PairwisePlan, query: int, scores: Float64Array, first: int, n: int, key: int, scratch: Scratch
) -> None:
    """Rank the n scores from `first` on and select among the ranks."""
    selected = scratch.selected
    rank_descending(
        scores, first, first + n, scratch.order, scratch.spare_order, scratch.weight, scratch.counters
    )
    if plan.selection == TOP:
        top = min(plan.truncation_level, n)
        selected[:top] = 1
        selected[top:n] = 0
        return
    select(
        plan.selection,
        plan.truncation_level,
        scratch.order,
        plan.levels,
        plan.query_boundaries[query],
        n,
        plan.positive_levels[query],
        key,
        selected,
        scratch.deficit,
        scratch.spare_order,
    )


@bare
def lay_out(query: int, plan: PairwisePlan, scores: Float64Array, iteration: int, scratch: Scratch) -> int:
    """Rank, select and lay out a query; return the number of documents in the selected segment."""
    start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
    n, n_levels = stop - start, plan.level_counts[query]
    key = mix(mix(np.uint64(plan.seed), iteration), query)
    _rank_and_select(plan, query, scores, start, n, mix(key, _SELECTION_KEY), scratch)
    if plan.samples == 0:
        inside: int = _place(plan, start, n, n_levels, scores, scratch)
        if plan.weighting >= MRR_TARGET:
            _sum_target(plan, n, 0, scratch)
        return inside
    scratch.selected[:n] = 1
    inside = _place(plan, start, n, n_levels, scores, scratch)
    for sample in range(plan.samples):
        drawn = mix(mix(key, _RANKING_KEY), sample)
        for i in range(n):
            scratch.noisy[i] = scores[start + i] + plan.noise * normal(drawn, i)
        _rank_and_select(plan, query, scratch.noisy, 0, n, mix(drawn, _SELECTION_KEY), scratch)
        _take_ranking(plan, n, sample, scratch)
    return inside
