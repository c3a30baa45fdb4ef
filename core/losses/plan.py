"""A pairwise loss bound to a dataset: all that is constant over iterations."""

from typing import Any, NamedTuple

import numpy as np

from core.losses.ranks import descending_order, label_levels
from core.types import Float64Array, FloatArray, Int32Array, Int64Array

# How a pair's weight depends on the two ranks.
BY_ROW, BY_DISCOUNTED_ROW, BY_LABELS, BY_RANKS, BY_DISTANCE = range(5)
MRR_TARGET, MAP_TARGET, ERR_TARGET = range(5, 8)
# φ, the loss of a pair's score difference.
LOGISTIC, HINGE, EXPONENTIAL = range(3)

UNTRUNCATED = int(np.iinfo(np.int64).max)
_BINS = 64  # many enough to occupy all threads, few enough that scratch arrays are allocated rarely


class PairwisePlan(NamedTuple):
    """The arrays and numbers that the kernels read.

    Attributes:
        query_boundaries: (n_queries + 1,) offsets of the queries.
        query_weights: (n_queries,) factors.
        bin_boundaries: Offsets of the ranges of queries that one thread processes at a time.
        levels: (n_documents,) level of each document's label in its query, 0 the highest.
        level_counts: (n_queries,) number of levels.
        positive_levels: (n_queries,) number of levels whose label is above 0.
        by_label: (n_documents,) document offsets in their query by descending label, ties in input order.
        label_positions: (n_documents,) position of each document in the order of `by_label`.
        level_stops: (sum of level_counts,) end of each level in the order of `by_label`.
        first_levels: (n_queries,) offsets of the queries into level_stops.
        document_weights: (n_documents,) factors of the pairs in which the document is i; empty if none are
            given.
        label_values: (n_documents,) v, the factor of a pair's weight that depends on labels alone.
        discounts: 1/D(r) for r = 1..longest query + 1.
        distance_weights: δ(d) for d = 0..longest query, 0 at d = 0.
        weighting: Formula of the pair weights, one of the constants above.
        all_pairs: Whether every ordered pair i ≠ j counts, not only those with y_i > y_j.
        rank_factor: Factor of ρ_ij = |1/D(π_i) − 1/D(π_j)|.
        distance_factor: Factor of δ(|π_i − π_j|).
        link: φ.
        sigma: Slope σ.
        selection: Strategy that selects documents below τ.
        truncation_level: τ.
        by_score_gap: Whether a pair's weight is divided by 0.01 + |s_i − s_j|.
        by_strength: Whether a query is multiplied by log2(1 + S) / S, with S twice the sum of the pairs'
            gradients.
        samples: Number of rankings drawn for a soft assignment; 0 for the hard assignment.
        noise: Scale of the noise on scores in a drawn ranking.
        by_plackett_luce: Whether the noise is Gumbel noise, which draws from the Plackett–Luce model; else
            normal.
        first_query: Position of the first query in the whole dataset; random numbers depend on it.
    """

    query_boundaries: Int64Array
    query_weights: Float64Array
    bin_boundaries: Int64Array
    levels: Int32Array
    level_counts: Int64Array
    positive_levels: Int64Array
    by_label: Int64Array
    label_positions: Int64Array
    level_stops: Int64Array
    first_levels: Int64Array
    document_weights: Float64Array
    label_values: Float64Array
    discounts: Float64Array
    distance_weights: Float64Array
    weighting: int
    all_pairs: bool
    rank_factor: float
    distance_factor: float
    link: int
    sigma: float
    selection: int
    truncation_level: int
    by_score_gap: bool
    by_strength: bool
    hessian_factor: float
    samples: int
    noise: float
    by_plackett_luce: bool
    first_query: int


def pairwise_plan(
    labels: FloatArray, query_boundaries: Int64Array, query_weights: Float64Array, **plan_options: Any
) -> PairwisePlan:
    """Build a plan from the given parts and the arrays derived from labels: levels, order, bins."""
    levels, level_counts = label_levels(labels, query_boundaries)
    sizes, starts = np.diff(query_boundaries), query_boundaries[:-1]
    holds_zero = np.zeros(len(sizes), bool)
    queries = np.repeat(np.arange(len(sizes)), sizes)
    holds_zero[queries[np.asarray(labels) == 0.0]] = True
    reach = np.minimum(sizes, plan_options["truncation_level"])
    rows = descending_order(labels, query_boundaries)
    label_positions = np.empty(len(rows), np.int64)
    label_positions[rows] = np.arange(len(rows)) - np.repeat(starts, sizes)
    first_levels = np.cumsum(level_counts) - level_counts
    level_sizes = np.bincount(first_levels[queries] + levels, minlength=int(level_counts.sum()))
    costs = np.where(level_counts > 1, sizes * (reach + 16.0), sizes)
    bin_boundaries = balanced_bins(costs)
    return PairwisePlan(
        query_boundaries=query_boundaries,
        query_weights=query_weights,
        bin_boundaries=bin_boundaries,
        levels=levels,
        level_counts=level_counts,
        positive_levels=level_counts - holds_zero,
        by_label=rows - np.repeat(starts, sizes),
        label_positions=label_positions,
        level_stops=np.cumsum(level_sizes) - np.repeat(starts, level_counts),
        first_levels=first_levels,
        **plan_options,
    )


def balanced_bins(costs: Float64Array) -> Int64Array:
    """Split the queries into consecutive ranges of nearly equal cost.

    Consecutive queries stay together for memory locality. The split never changes a query's result.

    Args:
        costs: (n_queries,) expected time of each query, in any unit.

    Returns:
        (n_bins + 1,) offsets; a bin may be empty where one query costs more than a bin's share.
    """
    n_bins = max(1, min(_BINS, len(costs)))
    ends = np.cumsum(costs)
    total = ends[-1] if len(costs) else 0.0
    cuts = np.searchsorted(ends, total * np.arange(1, n_bins) / n_bins, side="left")
    return np.concatenate(([0], cuts, [len(costs)])).astype(np.int64)
