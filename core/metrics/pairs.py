"""Metrics that count correctly ordered pairs of documents."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.jit import bare, compiled
from core.metrics.base import Measured, Metric
from core.metrics.ranked import RankedLabels
from core.ranges import over_ranges
from core.types import Float64Array, Int64Array


@compiled
def _count_pairs(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    scores: Float64Array,
    ideal: Float64Array,
    ideal_boundaries: Int64Array,
    relevant_from: float,
    right: Float64Array,
    pairs: Float64Array,
) -> None:
    """Count each query's pairs of unequal level, and correctly ordered pairs; tied pairs count half.

    Documents are in descending order of score. Levels are the labels or, where `relevant_from` is not NaN,
    two levels: labels of at least `relevant_from`, and smaller labels.
    """
    for query in range(first, last):
        levels = _levels(ideal[ideal_boundaries[query] : ideal_boundaries[query + 1]], relevant_from)
        seen = np.zeros((2, len(levels) + 1), np.int64)
        right[query] = _count_right(
            labels, scores, query_boundaries[query], query_boundaries[query + 1], levels, seen[0], seen[1]
        )
        pairs[query] = _unequal_pairs(seen[0])


@compiled
def _levels(ideal: Float64Array, relevant_from: float) -> Float64Array:
    """Return the distinct labels of a query in descending order, or only `relevant_from` if not NaN."""
    if not np.isnan(relevant_from):
        return np.full(1, relevant_from)
    found = np.empty(len(ideal))
    n = 0
    for label in ideal:
        if n == 0 or label != found[n - 1]:
            found[n] = label
            n += 1
    return found[:n]


@bare
def _count_right(
    labels: Float64Array,
    scores: Float64Array,
    start: int,
    stop: int,
    levels: Float64Array,
    seen: Int64Array,
    tied: Int64Array,
) -> float:
    """Return the number of correct pairs of a ranking; fill `seen` with document counts, top level first."""
    right = 0.0
    first = start
    while first < stop:
        last = first + 1
        while last < stop and scores[last] == scores[first]:
            last += 1
        for row in range(first, last):
            if not np.isnan(labels[row]):
                level = 0
                for other in range(len(levels)):
                    level += levels[other] > labels[row]
                above = 0
                for other in range(level):
                    above += seen[other]
                right += above
                tied[level] += 1
        if last - first > 1:
            right += 0.5 * _unequal_pairs(tied)
        for level in range(len(tied)):
            seen[level] += tied[level]
            tied[level] = 0
        first = last
    return right


@bare
def _unequal_pairs(counts: Int64Array) -> float:
    total, equal = 0.0, 0.0
    for count in counts:
        total += count
        equal += float(count) * count
    return (total * total - equal) / 2.0


@dataclass(frozen=True)
class PairwiseAccuracy(Metric):
    """Share of pairs with unequal labels that are ordered correctly; tied pairs count half.

    Source: "pair-wise correct" of Burges et al. 2006, section 2.
    """

    name: ClassVar[str] = "pairwise-accuracy"
    summary: ClassVar[str] = "Share of pairs with different labels that are in the correct order"
    formula: ClassVar[str] = "#{y_i > y_j, s_i > s_j} / #{y_i > y_j}, ties half"
    source: ClassVar[str] = "Burges et al. 2006, section 2"
    uses: ClassVar[tuple[str, ...]] = ("queries_without_relevant",)
    takes_cutoff: ClassVar[bool] = False

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return the share of each query, undefined where it has no pair."""
        ranking = ranked.ranking
        right, pairs = np.zeros((2, len(ranking.boundaries) - 1))
        over_ranges(
            _count_pairs,
            len(right),
            ranking.boundaries,
            ranking.labels,
            ranked.scores,
            ranked.ideal.labels,
            ranked.ideal.boundaries,
            self._relevant_from(),
            right,
            pairs,
            work=len(ranking.labels),
        )
        return right / np.maximum(pairs, 1.0), pairs == 0.0

    def _relevant_from(self) -> float:
        return np.nan


@dataclass(frozen=True)
class Auc(PairwiseAccuracy):
    """Area under the ROC curve of relevant against other documents: the pairwise accuracy of binary labels.

    Source: Hanley and McNeil 1982.
    """

    name: ClassVar[str] = "auc"
    summary: ClassVar[str] = "Probability that a relevant document ranks above a non-relevant document"
    formula: ClassVar[str] = "#{i relevant, j not, s_i > s_j} / (R N), ties half"
    source: ClassVar[str] = "Hanley and McNeil 1982"
    uses: ClassVar[tuple[str, ...]] = ("relevance_threshold", "queries_without_relevant")

    def _relevant_from(self) -> float:
        return float(np.nextafter(self.conventions.relevance_threshold, np.inf))
