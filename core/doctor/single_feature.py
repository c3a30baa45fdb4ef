"""Measure the ranking quality of each single feature, to detect features derived from the label."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.data import RankingDataset
from core.gains import LARGEST_EXP2_LABEL, inverse_discounts
from core.jit import compiled, inlined
from core.ranges import over_ranges
from core.types import Float32Array, Float64Array, Int64Array

CUTOFF = 10
MAX_QUERIES = 1_000
MAX_CELLS = 2**24
_BLOCKS = 64


@dataclass(frozen=True, eq=False)
class SingleFeatures:
    """Mean NDCG@10 over the sampled queries, each feature as the only score.

    Attributes:
        descending: (n_features,) the largest value first; NaN without a usable query, and for categorical
            features, whose codes have no order.
        ascending: (n_features,) the smallest value first; NaN where `descending` is NaN.
        by_chance: Expected NDCG@10 of a random order; NaN without a usable query.
    """

    descending: Float64Array
    ascending: Float64Array
    by_chance: float
    queries: int
    documents: int

    @property
    def better(self) -> Float64Array:
        """NDCG@10 in the better direction."""
        return np.fmax(self.descending, self.ascending)

    @property
    def lift(self) -> Float64Array:
        """(NDCG − by chance) / (1 − by chance): 0 for a feature that is constant, 1 for the label itself."""
        return (self.better - self.by_chance) / (1.0 - self.by_chance)


@inlined
def _insert(
    value: float,
    gain: float,
    groups: int,
    values: Float64Array,
    counts: Int64Array,
    sums: Float64Array,
) -> int:
    """Add a document to the groups of equal values, best group first; return the number of groups."""
    index = groups
    while index > 0 and values[index - 1] <= value:
        index -= 1
    if index < groups and values[index] == value:
        counts[index] += 1
        sums[index] += gain
        return groups
    for later in range(groups, index, -1):
        values[later], counts[later], sums[later] = values[later - 1], counts[later - 1], sums[later - 1]
    values[index], counts[index], sums[index] = value, 1, gain
    return groups + 1


@inlined
def _expected_dcg(groups: int, counts: Int64Array, sums: Float64Array, discounts: Float64Array) -> float:
    """Return the DCG of groups in rank order; each of a group's ranks gets the group's mean gain."""
    dcg, rank = 0.0, 0
    for group in range(groups):
        shared = 0.0
        for shared_rank in range(rank, min(rank + counts[group], CUTOFF)):
            shared += discounts[shared_rank]
        dcg += sums[group] / counts[group] * shared
        rank += counts[group]
    return dcg


@compiled
def _dcg_of_column(
    features: Float32Array,
    start: int,
    column: int,
    sign: float,
    gains: Float64Array,
    discounts: Float64Array,
    values: Float64Array,
    counts: Int64Array,
    sums: Float64Array,
) -> float:
    """Return the DCG@10 of ranking a query by one column, expected over random orders of equal values.

    Only the groups of equal values that reach the top 10 are kept, in `values`, `counts` and `sums`. These
    arrays hold at most two more groups than the cutoff. Documents without a value are the last group.
    """
    groups, reached, worst = 0, 0, -np.inf  # groups, their documents, value of the last group
    missing, missing_gain = 0, 0.0
    for i in range(len(gains)):
        value = np.float64(features[start + i, column]) * sign
        if value < worst and reached >= CUTOFF:
            continue
        if np.isnan(value):
            missing += 1
            missing_gain += gains[i]
            continue
        groups = _insert(value, gains[i], groups, values, counts, sums)
        reached += 1
        while reached - counts[groups - 1] >= CUTOFF:
            groups -= 1
            reached -= counts[groups]
        worst = values[groups - 1]
    if missing and reached < CUTOFF:
        counts[groups], sums[groups] = missing, missing_gain
        groups += 1
    dcg: float = _expected_dcg(groups, counts, sums, discounts)
    return dcg


@compiled
def _sum_ndcg(
    first: int,
    last: int,
    features: Float32Array,
    gains: Float64Array,
    offsets: Int64Array,
    discounts: Float64Array,
    cuts: Int64Array,
    ideal: Float64Array,
    descending: Float64Array,
    ascending: Float64Array,
) -> None:
    values, sums = np.empty(CUTOFF + 2), np.empty(CUTOFF + 2)
    counts = np.empty(CUTOFF + 2, np.int64)
    for block in range(first, last):
        for query in range(cuts[block], cuts[block + 1]):
            start = offsets[query]
            query_gains = gains[offsets[query] : offsets[query + 1]]
            for column in range(features.shape[1]):
                down = _dcg_of_column(
                    features, start, column, 1.0, query_gains, discounts, values, counts, sums
                )
                up = _dcg_of_column(
                    features, start, column, -1.0, query_gains, discounts, values, counts, sums
                )
                descending[block, column] += down / ideal[query]
                ascending[block, column] += up / ideal[query]


def rank_by_single_features(dataset: RankingDataset, seed: int) -> SingleFeatures:
    """Measure NDCG@10 of every feature as the only score, in both directions.

    Tied documents share their ranks, and each rank has the mean gain of the tie (McSherry and Najork 2008).
    So the input order does not matter, and a constant feature has the value of a random order. Documents
    without a value rank last in both directions. Gains are 2^y − 1, or y where labels go beyond 30; a label
    below 0 or NaN gains nothing.

    The seed draws at most 1,000 queries and 2^24 values. Queries whose documents have equal gains are not
    drawn, since every order of them is equally good. Queries with more than 2^24 values are not drawn.
    """
    labels = np.nan_to_num(np.maximum(dataset.labels, 0.0, dtype=np.float64))
    gains = labels if labels.max() > LARGEST_EXP2_LABEL else np.exp2(labels) - 1.0
    queries = _sample(gains, dataset, seed)
    n_features = dataset.n_features
    if not len(queries):
        nothing = np.full(n_features, np.nan)
        return SingleFeatures(nothing, nothing, np.nan, 0, 0)
    starts, stops = dataset.query_boundaries[queries], dataset.query_boundaries[queries + 1]
    offsets = np.concatenate(([0], np.cumsum(stops - starts)))
    sample_gains = np.concatenate([gains[start:stop] for start, stop in zip(starts, stops, strict=True)])
    discounts = inverse_discounts("log2", CUTOFF)
    ideal, by_chance = _bounds(sample_gains, offsets, discounts)
    cuts = np.unique(np.linspace(0, len(queries), _BLOCKS + 1).astype(np.int64))
    descending, ascending = np.zeros((2, len(cuts) - 1, n_features))
    rows = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
    sample = dataset.features[rows]
    sums = descending, ascending
    n = len(cuts) - 1
    over_ranges(_sum_ndcg, n, sample, sample_gains, offsets, discounts, cuts, ideal, *sums, work=sample.size)
    descending[:, dataset.categorical_columns] = ascending[:, dataset.categorical_columns] = np.nan
    return SingleFeatures(
        descending=descending.sum(axis=0) / len(queries),
        ascending=ascending.sum(axis=0) / len(queries),
        by_chance=float((by_chance / ideal).mean()),
        queries=len(queries),
        documents=int(offsets[-1]),
    )


def _sample(gains: Float64Array, dataset: RankingDataset, seed: int) -> Int64Array:
    """Draw queries whose documents differ in gain, as many as the bounds allow, in dataset order."""
    starts = dataset.query_boundaries[:-1]
    informative = np.flatnonzero(np.maximum.reduceat(gains, starts) > np.minimum.reduceat(gains, starts))
    drawn = np.random.default_rng(seed).permutation(informative)
    lengths = np.diff(dataset.query_boundaries)[drawn]
    fitting = lengths <= MAX_CELLS // dataset.n_features
    drawn, lengths = drawn[fitting][:MAX_QUERIES], lengths[fitting][:MAX_QUERIES]
    return np.sort(drawn[np.cumsum(lengths) * dataset.n_features <= MAX_CELLS])


def _bounds(
    gains: Float64Array, offsets: Int64Array, discounts: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the largest possible DCG@10 of each query, and its expectation for a random order."""
    ideal, by_chance = np.empty(len(offsets) - 1), np.empty(len(offsets) - 1)
    for query, (start, stop) in enumerate(pairwise(offsets)):
        top = min(stop - start, CUTOFF)
        best = np.sort(gains[start:stop])[::-1][:top]
        ideal[query] = best @ discounts[:top]
        by_chance[query] = gains[start:stop].mean() * discounts[:top].sum()
    return ideal, by_chance
