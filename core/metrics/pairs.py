"""Metrics of correctly ordered pairs of judged documents; those not retrieved come last, as one tie."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.jit import compiled, nonallocating
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
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        levels = _levels(ideal[ideal_boundaries[query] : ideal_boundaries[query + 1]], relevant_from)
        document_levels = np.empty(stop - start, np.int64)
        for document in range(stop - start):
            document_levels[document] = _level(labels[start + document], levels)
        seen = np.zeros(len(levels) + 2, np.int64)
        right[query] = _count_right(document_levels, scores[start:stop], seen)
        pairs[query] = _count_above(document_levels, seen)


@compiled
def _levels(ideal: Float64Array, relevant_from: float) -> Float64Array:
    """Return the distinct labels of a query in descending order, or only `relevant_from` if not NaN."""
    if not np.isnan(relevant_from):
        return np.full(1, relevant_from)
    levels = np.empty(len(ideal))
    n = 0
    for label in ideal:
        if n == 0 or label != levels[n - 1]:
            levels[n] = label
            n += 1
    return levels[:n]


@nonallocating
def _level(label: float, levels: Float64Array) -> int:
    """Return the number of levels above a label, by bisection; -1 for NaN."""
    if np.isnan(label):
        return -1
    low, high = 0, len(levels)
    while low < high:
        middle = (low + high) // 2
        if levels[middle] > label:
            low = middle + 1
        else:
            high = middle
    return low


@nonallocating
def _count_right(levels: Int64Array, scores: Float64Array, seen: Int64Array) -> float:
    """Return the number of correct pairs of a ranking; add the documents to `seen`, zeros at first.

    `seen` is a Fenwick tree (Fenwick 1994) of the number of documents by level, top level first. A document
    is below all documents before its tie, and below half of the tied documents.
    """
    right = 0.0
    first = 0
    while first < len(levels):
        last = first + 1
        while last < len(levels) and scores[last] == scores[first]:
            last += 1
        above = _count_above(levels[first:last], seen)
        for document in range(first, last):
            _add(levels[document], seen)
        above_with_ties = above if last - first == 1 else _count_above(levels[first:last], seen)
        right += 0.5 * (above + above_with_ties)
        first = last
    return right


@nonallocating
def _add(level: int, seen: Int64Array) -> None:
    """Add a document to the tree; -1 is no level."""
    node = level + 1
    while 0 < node < len(seen):
        seen[node] += 1
        node += node & -node


@nonallocating
def _count_above(levels: Int64Array, seen: Int64Array) -> float:
    """Return the number of pairs of these documents and documents of higher levels in the tree."""
    count = 0.0
    for level in levels:
        node = level
        while node > 0:
            count += seen[node]
            node -= node & -node
    return count


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
        ranked = ranked.with_absent
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
