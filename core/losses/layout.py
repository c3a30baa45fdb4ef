"""Working layout of one query: documents ranked, selected, and sorted by label in segments.

A position is an index into the layout: first the selected documents, then a gap, then the rest, each segment
by descending label and, within a label, by rank. Where all documents are selected, positions depend on labels
alone, and documents of a label are in input order. The gap and the end of the layout are padded with
documents without effect, so that the inner loops run in whole blocks. Arrays that depend on a ranking have
one row for each of `samples` drawn rankings; with `samples` = 0, one row for the ranking by score.
"""

from typing import NamedTuple

import numpy as np

from core.jit import compiled, inlined, nonallocating
from core.losses.exponential import exponentials
from core.losses.plan import (
    BY_DISCOUNTED_ROW,
    BY_LABELS,
    BY_RANKS,
    BY_ROW,
    ERR_TARGET,
    MAP_TARGET,
    MRR_TARGET,
    PairwisePlan,
)
from core.losses.randomness import fill_gumbel, fill_normal, mix
from core.losses.rows import BLOCK
from core.losses.selection import TOP, select
from core.sorting import SORT_PADDING, rank_descending, sort_counters
from core.types import Float64Array, Int64Array

_LOWEST_SCORE = -1e300
_RANKING_KEY, _SELECTION_KEY = 1, 2  # distinct streams of random numbers


class Scratch(NamedTuple):
    """Scratch arrays of one thread, as long as its longest query.

    Attributes:
        order: Document offset at each rank.
        spare_order: Scratch of the sort and of the selection.
        weight: Weight w of the current document's pair with each partner, see `core.losses.plan`. The sort,
            which comes first, uses the array as scratch.
        drawn_weight: w in one of the drawn rankings.
        selected: 1 for selected ranks, else 0.
        deficit: Number of documents of each level that the top τ lacks.
        level_end: Where each level ends in the selected segment, then in the rest.
        extremes: Lowest and highest σ s.
        position: Position of each document offset.
        level: Level of the label at each position.
        score: σ s at each position.
        exponential: e^{σ(s − max s)} at each position.
        value: Gain or other value of the label at each position.
        document_weight: Weight of the document at each position, where documents are weighted.
        gradient: Sum of the pairs' gradients at each position.
        hessian: Sum of the pairs' second derivatives at each position.
        noisy: Scores with noise, by document offset.
        rank: (samples, n) 0-based rank at each position.
        is_selected: (samples, n) 1 where selected, else 0, at each position.
        discount: (samples, n) 1/D at each position.
        before: (samples, n) at each position, for a target metric: the query's reciprocal rank without the
            document (MRR), R/r − S (MAP), or the probability to reach the rank (ERR).
        above: (samples, n) at each position: 1/r (MRR), (R + 1)/r − S (MAP), or ERR up to the rank (ERR).
    """

    order: Int64Array
    spare_order: Int64Array
    counters: Int64Array
    weight: Float64Array
    drawn_weight: Float64Array
    selected: Int64Array
    deficit: Int64Array
    level_end: Int64Array
    extremes: Float64Array
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
    is_selected: Float64Array
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
        sort_counters(n),
        np.empty(padded),
        np.empty(padded),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(2 * n + 2, np.int64),
        np.empty(2),
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
    """Fill a block of positions with padding without effect: the lowest score, other values 0."""
    for at in range(np.uint64(begin), np.uint64(begin + BLOCK)):
        scratch.exponential[at] = 0.0
        scratch.score[at] = _LOWEST_SCORE
        scratch.value[at] = 0.0
        scratch.gradient[at] = 0.0
        scratch.hessian[at] = 0.0
        for sample in range(samples):
            scratch.rank[sample, at] = 0
            scratch.discount[sample, at] = 0.0


@inlined
def _place_by_rank(
    plan: PairwisePlan, start: int, n: int, n_levels: int, scores: Float64Array, scratch: Scratch
) -> int:
    """Lay out the documents by the current ranking; return the number of selected documents."""
    order, selected, ends = scratch.order, scratch.selected, scratch.level_end
    position, level_at, score = scratch.position, scratch.level, scratch.score
    value, levels = scratch.value, plan.levels
    label_values, sigma = plan.label_values, plan.sigma
    for slot in range(2 * n_levels):
        ends[slot] = 0
    n_selected = 0
    for rank in range(np.uint64(n)):
        n_selected += selected[rank]
        ends[levels[start + order[rank]] + (0 if selected[rank] else n_levels)] += 1
    at = 0
    for slot in range(2 * n_levels):
        if slot == n_levels:
            at += BLOCK
        size = ends[slot]
        ends[slot] = at
        at += size
    for rank in range(np.uint64(n)):
        offset = order[rank]
        level = levels[start + offset]
        slot = level + (0 if selected[rank] else n_levels)
        at = ends[slot]
        ends[slot] = at + 1
        position[offset] = at
        level_at[at] = level
        score[at] = sigma * scores[start + offset]
        value[at] = label_values[start + offset]
    return n_selected


@inlined
def _place_by_label(
    query: int, plan: PairwisePlan, start: int, n: int, n_levels: int, scores: Float64Array, scratch: Scratch
) -> None:
    """Lay out a query whose documents are all selected."""
    ends, position, level_at = scratch.level_end, scratch.position, scratch.level
    score, value = scratch.score, scratch.value
    by_label, label_positions, label_values = plan.by_label, plan.label_positions, plan.label_values
    sigma, first = plan.sigma, np.uint64(start)
    at = 0
    for level in range(n_levels):
        level_stop = plan.level_stops[plan.first_levels[query] + level]
        ends[level] = level_stop
        ends[n_levels + level] = n + BLOCK
        for other in range(np.uint64(at), np.uint64(level_stop)):
            level_at[other] = level
        at = level_stop
    for i in range(np.uint64(n)):
        row = first + np.uint64(by_label[first + i])
        score[i] = sigma * scores[row]
        value[i] = label_values[row]
        position[i] = label_positions[first + i]


@inlined
def _prepare_sums(plan: PairwisePlan, start: int, n: int, n_selected: int, scratch: Scratch) -> None:
    """Set the sums of a layout to zero, compute its exponentials, and pad it."""
    score, exponential, position = scratch.score, scratch.exponential, scratch.position
    gradient, hessian, highest = scratch.gradient, scratch.hessian, scratch.extremes[1]
    for at in range(np.uint64(n + BLOCK)):
        hessian[at] = score[at] - highest
        gradient[at] = 0.0
    exponentials(hessian, n + BLOCK, exponential, scratch.spare_order)
    for at in range(np.uint64(n + BLOCK)):
        hessian[at] = 0.0
    for offset in range(np.uint64(n if len(plan.document_weights) > 0 else 0)):
        scratch.document_weight[position[offset]] = plan.document_weights[start + offset]
    _pad(n_selected, max(plan.samples, 1), scratch)
    _pad(n + BLOCK, max(plan.samples, 1), scratch)


@inlined
def _find_extremes(start: int, n: int, sigma: float, scores: Float64Array, scratch: Scratch) -> None:
    lowest, highest = np.inf, -np.inf
    for row in range(np.uint64(start), np.uint64(start + n)):
        lowest, highest = min(lowest, scores[row]), max(highest, scores[row])
    scratch.extremes[0] = sigma * lowest
    scratch.extremes[1] = sigma * highest


@nonallocating
def _store_ranking(plan: PairwisePlan, n: int, sample: int, scratch: Scratch) -> None:
    """Store for each position the discount, the rank and the values of the target metric in one ranking."""
    order, position, discounts = scratch.order, scratch.position, plan.discounts
    rank, discount = scratch.rank[sample], scratch.discount[sample]
    for r in range(np.uint64(n)):
        discount[position[order[r]]] = discounts[r]
    if plan.weighting not in (BY_RANKS, BY_DISCOUNTED_ROW):  # these weightings need discounts only
        for r in range(np.uint64(n)):
            rank[position[order[r]]] = np.int64(r)
    _fill_target_values(plan, n, sample, scratch)


@nonallocating
def _store_selection(n: int, sample: int, scratch: Scratch) -> None:
    """Store which positions are selected in one of several rankings."""
    is_selected = scratch.is_selected[sample]
    for r in range(np.uint64(n)):
        is_selected[scratch.position[scratch.order[r]]] = scratch.selected[r]


@nonallocating
def _fill_target_values(plan: PairwisePlan, n: int, sample: int, scratch: Scratch) -> None:
    """Fill `before` and `above`, from which changes of a target metric are computed, for one ranking."""
    if plan.weighting == MRR_TARGET:
        _fill_reciprocal_ranks(n, sample, scratch)
    elif plan.weighting == MAP_TARGET:
        _sum_precisions(n, sample, scratch)
    elif plan.weighting == ERR_TARGET:
        _sum_cascade(n, sample, scratch)


@nonallocating
def _fill_reciprocal_ranks(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `above` with 1/rank, and `before` with the query's reciprocal rank without the document."""
    first, second = 0.0, 0.0
    for r in range(n):
        if scratch.value[scratch.position[scratch.order[r]]] > 0.0:
            if first == 0.0:
                first = 1.0 / (r + 1.0)
            else:
                second = 1.0 / (r + 1.0)
                break
    for r in range(n):
        at = scratch.position[scratch.order[r]]
        scratch.above[sample, at] = 1.0 / (r + 1.0)
        is_first = scratch.above[sample, at] == first
        scratch.before[sample, at] = second if is_first else first


@nonallocating
def _sum_precisions(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `before` with R/r − S and `above` with (R + 1)/r − S for each rank r.

    R is the number of relevant documents at ranks 1 to r, and S the sum of their reciprocal ranks.
    """
    relevant, reciprocals = 0.0, 0.0
    for r in range(n):
        at = scratch.position[scratch.order[r]]
        if scratch.value[at] > 0.0:
            relevant += 1.0
            reciprocals += 1.0 / (r + 1.0)
        scratch.before[sample, at] = relevant / (r + 1.0) - reciprocals
        scratch.above[sample, at] = scratch.before[sample, at] + 1.0 / (r + 1.0)


@nonallocating
def _sum_cascade(n: int, sample: int, scratch: Scratch) -> None:
    """Fill `before` with Π(1 − v), the probability to reach the rank, and `above` with ERR up to the rank."""
    reach, total = 1.0, 0.0
    for r in range(n):
        at = scratch.position[scratch.order[r]]
        scratch.before[sample, at] = reach
        total += reach * scratch.value[at] / (r + 1.0)
        scratch.above[sample, at] = total
        reach *= 1.0 - scratch.value[at]


@nonallocating
def _rank(scores: Float64Array, first: int, n: int, scratch: Scratch) -> None:
    """Fill `order` with the offsets of the n scores from `first` on, highest score first."""
    rank_descending(
        scores, first, first + n, scratch.order, scratch.spare_order, scratch.weight, scratch.counters
    )


@nonallocating
def _select(plan: PairwisePlan, query: int, n: int, key: int, scratch: Scratch) -> None:
    """Mark the selected ranks."""
    selected = scratch.selected
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


@nonallocating
def _draw_rankings(
    query: int, plan: PairwisePlan, scores: Float64Array, start: int, n: int, key: int, scratch: Scratch
) -> None:
    """Rank scores with added noise and select documents, once for each sample."""
    noisy, first = scratch.noisy, np.uint64(start)
    for sample in range(plan.samples):
        sample_key = mix(mix(key, _RANKING_KEY), sample)
        if plan.by_plackett_luce:
            fill_gumbel(sample_key, n, noisy)
        else:
            fill_normal(sample_key, n, noisy, scratch.spare_order)
        for i in range(np.uint64(n)):
            noisy[i] = scores[first + i] + plan.noise * noisy[i]
        _rank(noisy, np.int64(0), n, scratch)  # a literal has another type and would be compiled again
        if plan.truncation_level < n:
            _select(plan, query, n, mix(sample_key, _SELECTION_KEY), scratch)
            _store_selection(n, sample, scratch)
        _store_ranking(plan, n, sample, scratch)


@nonallocating
def lay_out(query: int, plan: PairwisePlan, scores: Float64Array, key: int, scratch: Scratch) -> int:
    """Rank, select and lay out a query; return the number of documents in the selected segment.

    Args:
        query: Index of the query in the plan.
        scores: (n_documents,).
        key: Key of the random numbers of the iteration.
    """
    start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
    n, n_levels = stop - start, plan.level_counts[query]
    query_key = mix(key, plan.first_query + query)
    soft = plan.samples > 0
    all_selected = soft or plan.truncation_level >= n
    needs_ranks = not soft and plan.weighting not in (BY_ROW, BY_LABELS)
    if needs_ranks or not all_selected:
        _rank(scores, start, n, scratch)
    n_selected: int = n
    if all_selected:
        _place_by_label(query, plan, start, n, n_levels, scores, scratch)
    else:
        _select(plan, query, n, mix(query_key, _SELECTION_KEY), scratch)
        n_selected = _place_by_rank(plan, start, n, n_levels, scores, scratch)
    _find_extremes(start, n, plan.sigma, scores, scratch)
    _prepare_sums(plan, start, n, n_selected, scratch)
    if soft:
        _draw_rankings(query, plan, scores, start, n, query_key, scratch)
    elif needs_ranks:
        _store_ranking(plan, n, np.int64(0), scratch)
    return n_selected
