"""Kernels of the pairwise losses: Σ w_ij φ(s_i − s_j) over the pairs of each query.

A query's documents are laid out in two segments, the selected documents and the rest, each by descending
label; see `core.losses.layout`. The partners of lower label are then at most two contiguous ranges: pairs of
equal label are never visited, unless the loss has all pairs i ≠ j. The inner loops have no branch.

The exponential is computed once per document: with E = e^{σ(s − max s)}, r_ij = E_j / (E_i + E_j) (Burges et
al. 2006, footnote 3). Where a query's scores are so far apart that E would vanish, r is computed pair by
pair.
"""

from typing import NamedTuple

import numpy as np

from core.jit import compiled, inlined, nonallocating
from core.losses import pair_weights, rows
from core.losses.base import GradientAndLoss, Terms, checked_scores
from core.losses.layout import Scratch, lay_out, make_scratch
from core.losses.plan import BY_RANKS, EXPONENTIAL, HINGE, LOGISTIC, PairwisePlan
from core.losses.randomness import mix
from core.losses.smooth_pairs import LongQueries, is_smooth
from core.ranges import over_ranges
from core.types import Float32Array, Float64Array, FloatArray

# e^-600 is far above the smallest normal float64 (e^-708), so r and 1 − r keep full precision.
_WIDEST_SPREAD = 600.0
_WIDEST_SPREAD_OF_TWO = 300.0  # limit for products of two exponentials


class Output(NamedTuple):
    """Output buffers: float32 for training or float64 for inspection; buffers of the other type are empty.

    One class has both types, because each argument type of a kernel takes a quarter of a minute to compile.

    Attributes:
        gradient: (n_documents,) float32.
        hessian: (n_documents,) float32.
        exact_gradient: (n_documents,) float64.
        exact_hessian: (n_documents,) float64.
        value: (n_queries,) float64; empty unless requested.
        exact: Whether float64 and exact values are requested.
    """

    gradient: Float32Array
    hessian: Float32Array
    exact_gradient: Float64Array
    exact_hessian: Float64Array
    value: Float64Array
    exact: bool


@nonallocating
def _sum_losses(
    i: int,
    begin: int,
    end: int,
    link: int,
    quick: bool,
    pulls: float,
    score: Float64Array,
    exponential: Float64Array,
    weight: Float64Array,
) -> float:
    """Return Σ w φ, to 1e-9 per pair if `quick`; `pulls` is Σ w |φ'| / σ."""
    total: float
    if quick and link == LOGISTIC:
        blocks = (end - begin + rows.BLOCK - 1) // rows.BLOCK
        total = rows.sum_logistic_near(i, begin, blocks, score, exponential, weight)
    elif quick:
        total = pulls  # |φ'| / σ equals φ for e^{−σz}
    elif link == HINGE:
        total = rows.sum_hinge(i, begin, end, score, weight)
    elif link == EXPONENTIAL:
        total = rows.sum_exponential(i, begin, end, score, weight)
    else:
        total = rows.sum_logistic(i, begin, end, score, weight)
    return total


@inlined
def _add_gradient(
    i: int,
    begin: int,
    blocks: int,
    link: int,
    near: bool,
    score: Float64Array,
    exponential: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Add the derivatives of the weighted pairs to the sums; return Σ w |φ'| / σ."""
    gradients: float
    if link == HINGE:
        gradients = rows.add_hinge_gradient(i, begin, blocks, score, weight, gradient, hessian)
    elif link == EXPONENTIAL and near:
        gradients = rows.add_exponential_gradient(i, begin, blocks, exponential, weight, gradient, hessian)
    elif link == EXPONENTIAL:
        gradients = rows.add_exponential_gradient_far(i, begin, blocks, score, weight, gradient, hessian)
    elif near:
        gradients = rows.add_logistic_gradient(i, begin, blocks, exponential, weight, gradient, hessian)
    else:
        gradients = rows.add_logistic_gradient_far(i, begin, blocks, score, weight, gradient, hessian)
    return gradients


@inlined
def _partners(
    part: int, i: int, n_selected: int, rest: int, stop: int, all_pairs: bool, lower: int, lower_rest: int
) -> tuple[int, int]:
    """Return one of up to three ranges of partners: the lower labels of each segment, or all but i itself."""
    if all_pairs:
        if part == 0:
            return 0, min(i, n_selected)
        return (i + 1, n_selected) if part == 1 else (rest, stop)
    if part == 0:
        return lower, n_selected
    return (lower_rest, stop) if part == 1 else (stop, stop)


@nonallocating
def _visit_pairs_by_rank(
    n_selected: int, n: int, n_levels: int, by_two: bool, scratch: Scratch, with_value: bool
) -> float:
    """Visit the pairs of plain LambdaRank, with `by_two` two documents at a time; return Σ w φ on request."""
    value, score, exponential, discount = (
        scratch.value,
        scratch.score,
        scratch.exponential,
        scratch.discount[0],
    )
    gradient, hessian, weight = scratch.gradient, scratch.hessian, scratch.weight
    ends, level_at = scratch.level_end, scratch.level
    rest, stop = n_selected + rows.BLOCK, n + rows.BLOCK
    total = 0.0
    i = 0 if n_selected > 0 else rest
    while i < stop:
        v, level, last = value[i], level_at[i], n_selected if i < n_selected else stop
        are_two = by_two and i + 1 < last and level_at[i + 1] == level
        for part in range(2 if i < n_selected else 1):
            begin, end = (ends[level], n_selected) if part == 0 else (ends[n_levels + level], stop)
            if begin >= end:
                continue
            blocks = (end - begin + rows.BLOCK - 1) // rows.BLOCK
            if are_two:
                rows.add_rank_gradients_of_two(
                    i, begin, blocks, v, value, discount, exponential, gradient, hessian
                )
            else:
                d = discount[i]
                rows.add_rank_gradient(
                    i, begin, blocks, v, d, value, discount, exponential, gradient, hessian
                )
            if with_value and are_two:
                total += rows.sum_rank_losses_of_two(i, begin, blocks, v, value, discount, score, exponential)
            elif with_value:
                pair_weights.weigh_ranks(begin, blocks, v, value, discount[i], discount, weight)
                total += rows.sum_logistic_near(i, begin, blocks, score, exponential, weight)
        i += 2 if are_two else 1
        i = rest if n_selected <= i < rest else i
    return total


@nonallocating
def visit_pairs(
    query: int, plan: PairwisePlan, n_selected: int, n: int, scratch: Scratch, with_value: bool, exact: bool
) -> tuple[float, float]:
    """Visit the pairs of a query that is laid out; return Σ w |φ'| / σ and, on request, Σ w φ.

    The first sum is 0 for plain LambdaRank, which does not need it.
    """
    value, score, exponential = scratch.value, scratch.score, scratch.exponential
    rank, discount = scratch.rank[0], scratch.discount[0]
    before, above = scratch.before[0], scratch.above[0]
    gradient, hessian, weight = scratch.gradient, scratch.hessian, scratch.weight
    ends, level_at = scratch.level_end, scratch.level
    n_levels, kind, link = plan.level_counts[query], plan.weighting, plan.link
    all_pairs, soft = plan.all_pairs, plan.samples > 0
    a, b, table = plan.rank_factor, plan.distance_factor, plan.distance_weights
    rest, stop = n_selected + rows.BLOCK, n + rows.BLOCK
    lowest, highest = scratch.extremes[0], scratch.extremes[1]
    near = highest - lowest <= _WIDEST_SPREAD
    smooth = link == LOGISTIC or (link == EXPONENTIAL and highest - lowest <= rows.STEEPEST)
    quick = smooth and near and not exact
    gapped = plan.by_score_gap and highest > lowest
    weighted = len(plan.document_weights) > 0
    plain = not (soft or weighted or plan.by_score_gap or exact)
    if plain and near and link == LOGISTIC and kind == BY_RANKS:
        by_two = highest - lowest <= _WIDEST_SPREAD_OF_TWO
        return 0.0, _visit_pairs_by_rank(n_selected, n, n_levels, by_two, scratch, with_value)
    gradients, total = 0.0, 0.0
    for i in range(stop):
        v = value[i]
        if n_selected <= i < rest or (all_pairs and v == 0.0):
            continue
        lower, lower_rest = ends[level_at[i]], ends[n_levels + level_at[i]]
        # Two unselected documents are no pair: only a selected document has a second range of partners.
        for part in range(3 if i < n_selected else 1):
            begin, end = _partners(part, i, n_selected, rest, stop, all_pairs, lower, lower_rest)
            if begin >= end:
                continue
            blocks = (end - begin + rows.BLOCK - 1) // rows.BLOCK
            if soft:
                pair_weights.weigh_by_samples(i, begin, blocks, plan, plan.truncation_level < n, scratch)
            else:
                pair_weights.weigh(
                    i, begin, blocks, kind, v, value, rank, discount, before, above, a, b, table, weight
                )
            pair_weights.scale_weights(i, begin, end, blocks, weighted, gapped, plan.sigma, scratch)
            pulls = _add_gradient(i, begin, blocks, link, near, score, exponential, weight, gradient, hessian)
            gradients += pulls
            if with_value:
                total += _sum_losses(i, begin, end, link, quick, pulls, score, exponential, weight)
    return gradients, total


@inlined
def _pairwise_query(
    query: int,
    plan: PairwisePlan,
    scores: Float64Array,
    key: int,
    scratch: Scratch,
    with_value: bool,
    exact: bool,
) -> tuple[float, float]:
    """Fill the scratch arrays with a query's sums; return the factor to multiply them by, and the loss."""
    n = plan.query_boundaries[query + 1] - plan.query_boundaries[query]
    n_selected = lay_out(query, plan, scores, key, scratch)
    gradients, total = visit_pairs(query, plan, n_selected, n, scratch, with_value, exact)
    strength = 2.0 * plan.sigma * gradients
    factor = np.log2(1.0 + strength) / strength if plan.by_strength and strength > 0.0 else 1.0
    return factor, factor * total


@nonallocating
def _write_zeros(query: int, start: int, stop: int, output: Output) -> None:
    if output.exact:
        output.exact_gradient[start:stop] = 0.0
        output.exact_hessian[start:stop] = 0.0
    else:
        output.gradient[start:stop] = 0.0
        output.hessian[start:stop] = 0.0
    _write_value(query, 0.0, output)


@nonallocating
def _write_value(query: int, value: float, output: Output) -> None:
    if len(output.value) > 0:
        output.value[query] = value


@nonallocating
def _write_back(
    start: int, stop: int, slope: float, curvature: float, scratch: Scratch, output: Output
) -> None:
    """Write a query's sums in document order, gradients times `slope` and hessians times `curvature`."""
    position, gradients, hessians = scratch.position, scratch.gradient, scratch.hessian
    first, n = np.uint64(start), np.uint64(stop - start)
    if output.exact:
        exact_gradient, exact_hessian = output.exact_gradient, output.exact_hessian
        for i in range(n):
            exact_gradient[first + i] = slope * gradients[position[i]]
            exact_hessian[first + i] = curvature * hessians[position[i]]
    else:
        gradient, hessian = output.gradient, output.hessian
        for i in range(n):
            gradient[first + i] = slope * gradients[position[i]]
            hessian[first + i] = curvature * hessians[position[i]]


@compiled
def _pairwise_terms(
    first: int, last: int, plan: PairwisePlan, scores: Float64Array, key: int, output: Output
) -> None:
    """Write the terms of a range of bins."""
    with_value = len(output.value) > 0
    for b in range(first, last):
        longest = np.int64(0)  # a literal has another type and would be compiled again
        for query in range(plan.bin_boundaries[b], plan.bin_boundaries[b + 1]):
            longest = max(longest, plan.query_boundaries[query + 1] - plan.query_boundaries[query])
        scratch = make_scratch(longest, max(plan.samples, 1))
        for query in range(plan.bin_boundaries[b], plan.bin_boundaries[b + 1]):
            start, stop = plan.query_boundaries[query], plan.query_boundaries[query + 1]
            if stop - start < 2 or (plan.level_counts[query] < 2 and not plan.all_pairs):
                _write_zeros(query, start, stop, output)
                continue
            factor, total = _pairwise_query(query, plan, scores, key, scratch, with_value, output.exact)
            _write_value(query, plan.query_weights[query] * total, output)
            slope = factor * plan.query_weights[query] * plan.sigma
            curvature = slope * plan.sigma * plan.hessian_factor
            _write_back(start, stop, slope, curvature, scratch, output)


def _fill_terms(plan: PairwisePlan, scores: Float64Array, key: np.uint64, output: Output) -> None:
    over_ranges(_pairwise_terms, len(plan.bin_boundaries) - 1, plan, scores, key, output, work=len(scores))


class PairwiseObjective:
    """A pairwise loss bound to one dataset.

    Args:
        plan: The plan that the kernels read.
    """

    def __init__(self, plan: PairwisePlan, seed: int) -> None:
        self.plan = plan
        self._seed = np.uint64(seed)
        self._long_queries = LongQueries(plan) if is_smooth(plan) else None
        n_documents = int(plan.query_boundaries[-1])
        gradient, hessian = (np.zeros(n_documents, np.float32) for _ in range(2))
        none = np.empty(0)
        self._output = Output(gradient, hessian, none, none, none, exact=False)
        self._output_with_value = self._output._replace(value=np.zeros(len(plan.query_boundaries) - 1))

    def __call__(self, scores: FloatArray, iteration: int) -> tuple[Float32Array, Float32Array]:
        """Return gradient and hessian in reused float32 buffers."""
        self._fill(checked_scores(scores), iteration, self._output)
        return self._output.gradient, self._output.hessian

    def with_value(self, scores: FloatArray, iteration: int) -> GradientAndLoss:
        """Return the same gradient and hessian, and the loss of each query, in reused buffers."""
        self._fill(checked_scores(scores), iteration, self._output_with_value)
        return (
            self._output_with_value.gradient,
            self._output_with_value.hessian,
            self._output_with_value.value,
        )

    def _fill(self, scores: Float64Array, iteration: int, output: Output) -> None:
        """Write the terms, for long queries by `LongQueries` where that is faster."""
        chosen = self._long_queries.faster_queries(scores) if self._long_queries else np.empty(0, np.int64)
        plan = self.plan
        if len(chosen):
            # The kernels skip queries with a single label.
            level_counts = plan.level_counts.copy()
            level_counts[chosen] = 1
            plan = plan._replace(level_counts=level_counts)
        _fill_terms(plan, scores, self._key(iteration), output)
        if self._long_queries and len(chosen):
            self._long_queries.fill(chosen, scores, output.gradient, output.hessian, output.value)

    def _key(self, iteration: int) -> np.uint64:
        return np.uint64(mix(self._seed, iteration))

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        """Return value, gradient and hessian in float64, pair by pair."""
        n_queries, n_documents = len(self.plan.query_boundaries) - 1, len(scores)
        terms = Terms(np.zeros(n_queries), np.zeros(n_documents), np.zeros(n_documents))
        none = np.empty(0, np.float32)
        output = Output(none, none, terms.gradient, terms.hessian, terms.value, exact=True)
        _fill_terms(self.plan, checked_scores(scores), self._key(iteration), output)
        return terms
