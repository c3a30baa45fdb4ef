"""Logistic losses of all pairs of a long query, in time that grows with its documents, not its pairs.

The method applies where a pair's weight depends only on its document with the higher label. The derivatives
are then sums of the sigmoid and of related functions of s_i − s_j. They go over sets of documents that depend
on labels alone. Scores are cut into cells of width 1. In each cell the documents are replaced by numbers at
`NODES` Chebyshev nodes, and the sums are taken between nodes. Each document's sum is interpolated from the
nodes of its cell. This is the fast multipole method in one dimension, by interpolation (Fong and Darve 2009).

All these functions are analytic for |Im z| < π. A cell of half-width ½ is in a
Bernstein ellipse with half-axis 2.5, ρ = 10.1. There they are at most M = 5.8 after a linear part, which
interpolation keeps. The error
of 12 nodes is 4 M ρ^−11 / (ρ − 1) (Trefethen 2013, theorem 8.2), times 1 + Λ = 3.6 for nodes on both sides:
below 1e-10 a pair.
"""

import numpy as np

from core.jit import compiled
from core.losses.plan import BY_ROW, LOGISTIC, UNTRUNCATED, PairwisePlan
from core.ranges import over_ranges
from core.types import Float32Array, Float64Array, Int32Array, Int64Array

NODES = 12
MIN_DOCUMENTS = 2_048  # shorter queries are summed pair by pair, as in earlier releases
_MAX_CELLS = 1_024
# Measured cost of a document, and of a pair of cells for a level, in units of the cost of one pair.
_PAIRS_PER_DOCUMENT, _PAIRS_PER_CELL_PAIR = 128, 400

_ANGLES = np.pi * (np.arange(NODES) + 0.5) / NODES
_POINTS = np.cos(_ANGLES)  # the nodes in −1..1
# (node, degree) weights from values at nodes to coefficients of Chebyshev polynomials; also from sums of the
# polynomials to strengths at nodes.
_WEIGHTS = np.cos(np.outer(_ANGLES, np.arange(NODES))) * np.where(np.arange(NODES) == 0, 1.0, 2.0) / NODES


def is_smooth(plan: PairwisePlan) -> bool:
    """Return whether the loss is logistic, untruncated and weighted by the higher-labelled document alone."""
    return (
        plan.weighting == BY_ROW
        and plan.link == LOGISTIC
        and not plan.all_pairs
        and not plan.by_score_gap
        and not plan.by_strength
        and plan.truncation_level == UNTRUNCATED
    )


class LongQueries:
    """The long queries of a dataset, with the arrays that depend on their labels.

    Args:
        plan: Plan of a loss with `is_smooth`.
    """

    def __init__(self, plan: PairwisePlan) -> None:
        self._plan = plan
        lengths = np.diff(plan.query_boundaries)
        self._queries = np.flatnonzero((lengths >= MIN_DOCUMENTS) & (plan.level_counts > 1))
        self._pairs = np.array([self._count_pairs(int(query)) for query in self._queries])
        weighted = len(plan.document_weights) > 0
        self._row_weights = plan.label_values * plan.document_weights if weighted else plan.label_values

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._queries)

    def faster_queries(self, scores: Float64Array) -> Int64Array:
        """Return the queries that `fill` is estimated to sum faster than a loop over pairs.

        The cost of `fill` grows with the range of a query's scores.
        """
        chosen = []
        for query, pairs in zip(self._queries, self._pairs, strict=True):
            rows = slice(*self._plan.query_boundaries[query : query + 2])
            cells = self._plan.sigma * float(np.ptp(scores[rows])) + 1.0
            length = rows.stop - rows.start
            cost = _PAIRS_PER_DOCUMENT * length
            cost += _PAIRS_PER_CELL_PAIR * cells * cells * self._plan.level_counts[query]
            if cells < _MAX_CELLS and cost < pairs:
                chosen.append(query)
        return np.array(chosen, np.int64)

    def fill(
        self,
        queries: Int64Array,
        scores: Float64Array,
        gradient: Float32Array,
        hessian: Float32Array,
        value: Float64Array,
    ) -> None:
        """Write gradient and hessian, (n_documents,), and losses, (n_queries,) or empty, of some queries."""
        plan = self._plan
        over_ranges(
            fill_queries,
            len(queries),
            queries,
            plan.query_boundaries,
            plan.levels,
            plan.level_counts,
            self._row_weights,
            plan.query_weights,
            plan.sigma,
            plan.hessian_factor,
            scores,
            gradient,
            hessian,
            value,
            work=len(scores),
        )

    def _count_pairs(self, query: int) -> int:
        rows = slice(*self._plan.query_boundaries[query : query + 2])
        sizes = np.bincount(self._plan.levels[rows])
        return int((sizes * (sizes.sum() - np.cumsum(sizes))).sum())


@compiled
def _polynomials(point: float, values: Float64Array) -> None:
    """Fill `values` with the Chebyshev polynomials at a point in −1..1."""
    values[0], values[1] = 1.0, point
    for degree in range(2, NODES):
        values[degree] = 2.0 * point * values[degree - 1] - values[degree - 2]


@compiled
def _cell_of(x: float, lowest: float, n_cells: int) -> int:
    return int(min(np.int64(x - lowest), np.int64(n_cells - 1)))


@compiled
def _moments(
    x: Float64Array, lowest: float, n_cells: int, n_levels: int, levels: Int32Array, weights: Float64Array
) -> Float64Array:
    """Return sums of Chebyshev polynomials over the documents of each label, (2, level, cell, degree).

    The first half has weight 1 for all documents, the second the documents' weights.
    """
    sums = np.zeros((2, n_levels, n_cells, NODES))
    values = np.empty(NODES)
    for i in range(len(x)):
        cell = _cell_of(x[i], lowest, n_cells)
        _polynomials(2.0 * (x[i] - lowest - cell) - 1.0, values)
        for degree in range(NODES):
            sums[0, levels[i], cell, degree] += values[degree]
            sums[1, levels[i], cell, degree] += weights[i] * values[degree]
    return sums


@compiled
def _sources(sums: Float64Array) -> Float64Array:
    """Return the source strengths at the nodes for the partners of each label, (2, level, cell, node).

    The first half is for documents of lower labels, the second for documents of higher labels.
    """
    n_levels, n_cells = sums.shape[1:3]
    strengths = np.zeros(sums.shape)
    for level in range(1, n_levels):
        above = level - 1
        below = n_levels - level
        for cell in range(n_cells):
            for degree in range(NODES):
                strengths[0, below - 1, cell, degree] = (
                    strengths[0, below, cell, degree] + sums[0, below, cell, degree]
                )
                strengths[1, level, cell, degree] = (
                    strengths[1, above, cell, degree] + sums[1, above, cell, degree]
                )
    values, products = np.empty(NODES), np.empty(NODES)
    for side in range(2):
        for level in range(n_levels):
            for cell in range(n_cells):
                for degree in range(NODES):
                    values[degree] = strengths[side, level, cell, degree]
                for node in range(NODES):
                    for degree in range(NODES):
                        products[degree] = _WEIGHTS[node, degree] * values[degree]
                    strengths[side, level, cell, node] = products.sum()
    return strengths


@compiled
def _kernels(n_cells: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return 1/(1 + e^z), minus its slope, and ln(1 + e^−z) by distance of two cells and their nodes."""
    shape = (2 * n_cells - 1, NODES, NODES)
    sigmoid, slope, softplus = np.empty(shape), np.empty(shape), np.empty(shape)
    for index in range(2 * n_cells - 1):
        for own in range(NODES):
            for other in range(NODES):
                z = index - (n_cells - 1) + 0.5 * (_POINTS[own] - _POINTS[other])
                small = np.exp(-abs(z))
                share = small / (1.0 + small)
                sigmoid[index, own, other] = share if z > 0.0 else 1.0 - share
                slope[index, own, other] = share / (1.0 + small)
                softplus[index, own, other] = np.log1p(small) + max(-z, 0.0)
    return sigmoid, slope, softplus


@compiled
def _potentials(sources: Float64Array) -> Float64Array:
    """Return Chebyshev coefficients of the sums over documents, (level, cell, sum, degree).

    The sums are gradient and hessian of pairs with lower labels, their losses, and gradient and hessian of
    pairs with higher labels.
    """
    n_levels, n_cells = sources.shape[1:3]
    sigmoid, slope, softplus = _kernels(n_cells)
    coefficients = np.zeros((n_levels, n_cells, 5, NODES))
    sums = np.empty((5, NODES))
    for level in range(n_levels):
        for cell in range(n_cells):
            sums[:] = 0.0
            for other in range(n_cells):
                index = cell - other + n_cells - 1
                for own in range(NODES):
                    for node in range(NODES):
                        lower = sources[0, level, other, node]
                        higher = sources[1, level, other, node]
                        sigmoid_value, slope_value = sigmoid[index, own, node], slope[index, own, node]
                        sums[0, own] += sigmoid_value * lower
                        sums[1, own] += slope_value * lower
                        sums[2, own] += softplus[index, own, node] * lower
                        sums[3, own] += (1.0 - sigmoid_value) * higher
                        sums[4, own] += slope_value * higher
            for sum_index in range(5):
                for degree in range(NODES):
                    total = 0.0
                    for own in range(NODES):
                        total += _WEIGHTS[own, degree] * sums[sum_index, own]
                    coefficients[level, cell, sum_index, degree] = total
    return coefficients


@compiled
def sum_pairs(
    x: Float64Array,
    n_levels: int,
    levels: Int32Array,
    weights: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Fill a query's sums of signed w |φ'| and of w φ″; return the loss.

    Args:
        x: (n,) σ s.
        levels: (n,) level of each document's label, 0 the highest.
        weights: (n,) w of the pairs in which the document has the higher label.
        gradient: (n,) output.
        hessian: (n,) output.
    """
    lowest, highest = x.min(), x.max()
    n_cells = np.int64(highest - lowest) + 1
    coefficients = _potentials(_sources(_moments(x, lowest, n_cells, n_levels, levels, weights)))
    values, document_sums = np.empty(NODES), np.empty(5)
    loss = 0.0
    for i in range(len(x)):
        cell = _cell_of(x[i], lowest, n_cells)
        _polynomials(2.0 * (x[i] - lowest - cell) - 1.0, values)
        for sum_index in range(5):
            total = 0.0
            for degree in range(NODES):
                total += coefficients[levels[i], cell, sum_index, degree] * values[degree]
            document_sums[sum_index] = total
        gradient[i] = document_sums[3] - weights[i] * document_sums[0]
        hessian[i] = document_sums[4] + weights[i] * document_sums[1]
        loss += weights[i] * document_sums[2]
    return loss


@compiled
def fill_queries(
    first: int,
    last: int,
    queries: Int64Array,
    boundaries: Int64Array,
    levels: Int32Array,
    level_counts: Int64Array,
    row_weights: Float64Array,
    query_weights: Float64Array,
    sigma: float,
    hessian_factor: float,
    scores: Float64Array,
    gradient: Float32Array,
    hessian: Float32Array,
    value: Float64Array,
) -> None:
    """Write the terms of some queries, scaled as by the kernels over pairs."""
    for index in range(first, last):
        query = queries[index]
        start, stop = boundaries[query], boundaries[query + 1]
        gradients, hessians = np.empty(stop - start), np.empty(stop - start)
        loss = sum_pairs(
            sigma * scores[start:stop],
            level_counts[query],
            levels[start:stop],
            row_weights[start:stop],
            gradients,
            hessians,
        )
        slope = query_weights[query] * sigma
        curvature = slope * sigma * hessian_factor
        for i in range(stop - start):
            gradient[start + i] = slope * gradients[i]
            hessian[start + i] = curvature * hessians[i]
        if len(value) > 0:
            value[query] = query_weights[query] * loss
