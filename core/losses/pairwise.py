"""The engine of the pairwise losses: Σ w_ij φ(s_i − s_j) over the pairs of each query.

A query's documents are laid out as two segments, those inside the truncation level and the rest, each
by descending label and, within a label, by rank. The partners of a document are then at most two
contiguous ranges: documents of equal label are never touched and the inner loops have no branch.

The exponential is taken once a document: with E = e^{σ(s − max s)}, r_ij = E_j / (E_i + E_j) (Burges et
al. 2006, footnote 3). Where a query's scores are so far apart that E would vanish, r is computed pair
by pair.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from core.jit import compiled, parallel
from core.losses.base import Terms
from core.losses.bins import balanced_bins
from core.losses.ranks import label_levels, rank_descending
from core.types import Float32Array, Float64Array, FloatArray, Int32Array, Int64Array

# e^-600 is far from the smallest normal float64 (e^-708), so r and 1 − r keep full precision.
_WIDEST_SPREAD = 600.0


class PairwisePlan(NamedTuple):
    """A pairwise loss bound to a dataset: what is fixed from one iteration to the next.

    Attributes:
        query_boundaries: (n_queries + 1,) offsets of the queries.
        query_weights: (n_queries,) factors.
        bin_queries: Query numbers, bin after bin.
        bin_boundaries: Offsets of the bins.
        levels: (n_documents,) level of each document's label in its query, 0 the highest.
        level_counts: (n_queries,) number of levels; a query of one level has no pairs.
        label_values: (n_documents,) v; a pair weighs v_i − v_j times its rank weight.
        discounts: 1/D(r) for r = 1..longest query.
        distance_weights: δ(d) for d = 0..longest query, 0 at d = 0.
        rank_factor: Factor of ρ_ij = |1/D(π_i) − 1/D(π_j)|.
        distance_factor: Factor of δ(|π_i − π_j|).
        sigma: Slope σ.
        truncation_level: τ: pairs with min(π_i, π_j) <= τ are kept.
    """

    query_boundaries: Int64Array
    query_weights: Float64Array
    bin_queries: Int64Array
    bin_boundaries: Int64Array
    levels: Int32Array
    level_counts: Int64Array
    label_values: Float64Array
    discounts: Float64Array
    distance_weights: Float64Array
    rank_factor: float
    distance_factor: float
    sigma: float
    truncation_level: int


class Scratch(NamedTuple):
    """One thread's working arrays, as long as its longest query; position means place in the layout.

    Attributes:
        order: Document offset at each rank; then the merge sort's spare.
        spare_order: Scratch of the sort; then the start of each level in the two segments.
        document: Document offset at each position.
        rank: 0-based rank at each position.
        score: σ s at each position.
        exponential: E at each position.
        value: v at each position.
        discount: 1/D at each position.
        weight: w of the present document with each partner.
        gradient: Sum of ± w r at each position.
        hessian: Sum of w r (1 − r) at each position.
    """

    order: Int64Array
    spare_order: Int64Array
    document: Int64Array
    rank: Int64Array
    score: Float64Array
    exponential: Float64Array
    value: Float64Array
    discount: Float64Array
    weight: Float64Array
    gradient: Float64Array
    hessian: Float64Array


@compiled
def _make_scratch(n: int) -> Scratch:
    return Scratch(
        np.empty(n, np.int64),
        np.empty(2 * n + 2, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )


@compiled
def _lay_out(query: int, plan: PairwisePlan, scores: Float64Array, scratch: Scratch) -> int:
    """Place the query's documents in the two segments; return the first segment's length."""
    start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
    n = stop - start
    n_levels = plan.level_counts[query]
    inside: int = min(plan.truncation_level, n)
    rank_descending(scores, start, stop, scratch.order, scratch.weight, scratch.spare_order, scratch.gradient)
    starts = scratch.spare_order
    starts[: 2 * n_levels] = 0
    for rank in range(n):
        level = plan.levels[start + scratch.order[rank]]
        starts[level if rank < inside else n_levels + level] += 1
    position = 0
    for slot in range(2 * n_levels):
        size = starts[slot]
        starts[slot] = position
        position += size
    highest = plan.sigma * scores[start + scratch.order[0]]
    for rank in range(n):
        document = scratch.order[rank]
        level = plan.levels[start + document]
        slot = level if rank < inside else n_levels + level
        position = starts[slot]
        starts[slot] = position + 1
        scratch.document[position] = document
        scratch.rank[position] = rank
        scratch.score[position] = plan.sigma * scores[start + document]
        scratch.exponential[position] = np.exp(scratch.score[position] - highest)
        scratch.value[position] = plan.label_values[start + document]
        scratch.discount[position] = plan.discounts[rank]
    scratch.gradient[:n] = 0.0
    scratch.hessian[:n] = 0.0
    return inside


@compiled
def _weigh(i: int, begin: int, end: int, plan: PairwisePlan, scratch: Scratch) -> None:
    """Fill the weights of document i with its partners at positions begin..end."""
    v, value, weight = scratch.value[i], scratch.value, scratch.weight
    d, discount = scratch.discount[i], scratch.discount
    if plan.distance_factor == 0.0:
        for j in range(begin, end):
            weight[j] = (v - value[j]) * plan.rank_factor * abs(d - discount[j])
        return
    rank, distance_weights = scratch.rank, plan.distance_weights
    own = rank[i]
    for j in range(begin, end):
        apart = plan.distance_factor * distance_weights[abs(own - rank[j])]
        weight[j] = (v - value[j]) * (plan.rank_factor * abs(d - discount[j]) + apart)


@compiled
def _push(i: int, begin: int, end: int, scratch: Scratch) -> None:
    """Add the pairs of document i with positions begin..end through the shared exponentials."""
    exponential, weight = scratch.exponential, scratch.weight
    gradient, hessian = scratch.gradient, scratch.hessian
    e = exponential[i]
    own_gradient, own_hessian = 0.0, 0.0
    for j in range(begin, end):
        inverse = 1.0 / (e + exponential[j])
        pull = weight[j] * exponential[j] * inverse
        bend = pull * e * inverse
        gradient[j] += pull
        hessian[j] += bend
        own_gradient += pull
        own_hessian += bend
    gradient[i] -= own_gradient
    hessian[i] += own_hessian


@compiled
def _push_far(i: int, begin: int, end: int, scratch: Scratch) -> None:
    """Add the same pairs for scores too far apart to share exponentials."""
    for j in range(begin, end):
        gap = scratch.score[i] - scratch.score[j]
        t = np.exp(-abs(gap))
        r = t / (1.0 + t) if gap > 0.0 else 1.0 / (1.0 + t)
        pull = scratch.weight[j] * r
        bend = scratch.weight[j] * t / ((1.0 + t) * (1.0 + t))
        scratch.gradient[j] += pull
        scratch.hessian[j] += bend
        scratch.gradient[i] -= pull
        scratch.hessian[i] += bend


@compiled
def _sum_losses(i: int, begin: int, end: int, scratch: Scratch) -> float:
    """Return Σ w ln(1 + e^{−σ(s_i − s_j)}) over positions begin..end."""
    total = 0.0
    for j in range(begin, end):
        gap = scratch.score[i] - scratch.score[j]
        total += scratch.weight[j] * (max(-gap, 0.0) + np.log1p(np.exp(-abs(gap))))
    return total


@compiled
def _pairwise_query(
    query: int, plan: PairwisePlan, scores: Float64Array, scratch: Scratch, with_value: bool
) -> float:
    """Leave one query's sums in the scratch arrays; return its loss, 0 unless asked for."""
    start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
    n = stop - start
    n_levels = plan.level_counts[query]
    inside = _lay_out(query, plan, scores, scratch)
    ends = scratch.spare_order  # where each level ends in each segment
    lowest, highest = scratch.score[:n].min(), scratch.score[:n].max()
    near = highest - lowest <= _WIDEST_SPREAD
    total = 0.0
    for i in range(n):
        level = plan.levels[start + scratch.document[i]]
        for segment in range(2):
            if segment == 1 and i >= inside:
                break  # two documents outside the truncation level are no pair
            begin = ends[segment * n_levels + level]
            end = inside if segment == 0 else n
            if begin < end:
                _weigh(i, begin, end, plan, scratch)
                if near:
                    _push(i, begin, end, scratch)
                else:
                    _push_far(i, begin, end, scratch)
                if with_value:
                    total += _sum_losses(i, begin, end, scratch)
    return total


@parallel
def _pairwise_terms(
    plan: PairwisePlan,
    scores: Float64Array,
    gradient: FloatArray,
    hessian: FloatArray,
    value: Float64Array,
    with_value: bool,
) -> None:
    sigma = plan.sigma
    for b in prange(len(plan.bin_boundaries) - 1):
        longest = 0
        for k in range(plan.bin_boundaries[b], plan.bin_boundaries[b + 1]):
            query = plan.bin_queries[k]
            longest = max(longest, plan.query_boundaries[query + 1] - plan.query_boundaries[query])
        scratch = _make_scratch(longest)
        for k in range(plan.bin_boundaries[b], plan.bin_boundaries[b + 1]):
            query = plan.bin_queries[k]
            start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
            if plan.level_counts[query] < 2:
                gradient[start:stop] = 0.0
                hessian[start:stop] = 0.0
                if with_value:
                    value[query] = 0.0
                continue
            total = _pairwise_query(query, plan, scores, scratch, with_value)
            factor = plan.query_weights[query]
            if with_value:
                value[query] = factor * total
            for i in range(stop - start):
                document = start + scratch.document[i]
                gradient[document] = factor * sigma * scratch.gradient[i]
                hessian[document] = factor * sigma * sigma * scratch.hessian[i]


class PairwiseObjective:
    """A pairwise loss bound to one dataset."""

    def __init__(self, plan: PairwisePlan) -> None:
        self._plan = plan
        n_documents = int(plan.query_boundaries[-1])
        self._gradient = np.zeros(n_documents, np.float32)
        self._hessian = np.zeros(n_documents, np.float32)
        self._no_value = np.empty(0)

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian in reused float32 buffers."""
        scores = np.ascontiguousarray(scores, np.float64)
        _pairwise_terms(self._plan, scores, self._gradient, self._hessian, self._no_value, False)
        return self._gradient, self._hessian

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64."""
        scores = np.ascontiguousarray(scores, np.float64)
        terms = Terms(
            np.zeros(len(self._plan.query_boundaries) - 1), np.zeros(len(scores)), np.zeros(len(scores))
        )
        _pairwise_terms(self._plan, scores, terms.gradient, terms.hessian, terms.value, True)
        return terms


def pairwise_plan(
    labels: FloatArray,
    query_boundaries: Int64Array,
    query_weights: Float64Array,
    **parts: Any,
) -> PairwisePlan:
    """Complete a plan with what every pairwise loss derives from labels: levels and balanced bins."""
    boundaries = np.ascontiguousarray(query_boundaries, np.int64)
    levels, level_counts = label_levels(labels, boundaries)
    sizes = np.diff(boundaries).astype(np.float64)
    reach = np.minimum(sizes, parts["truncation_level"])
    bin_queries, bin_boundaries = balanced_bins(np.where(level_counts > 1, sizes * (reach + 16.0), sizes))
    return PairwisePlan(
        query_boundaries=boundaries,
        query_weights=query_weights,
        bin_queries=bin_queries,
        bin_boundaries=bin_boundaries,
        levels=levels,
        level_counts=level_counts,
        **parts,
    )
