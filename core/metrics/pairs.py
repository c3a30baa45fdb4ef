"""Metrics that count the pairs of documents in the right order."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.jit import compiled
from core.metrics.base import Measured, Metric
from core.metrics.ranked import RankedLabels
from core.types import Float64Array, Int64Array


@compiled
def _count_pairs(
    labels: Float64Array, scores: Float64Array, query_boundaries: Int64Array
) -> tuple[Float64Array, Float64Array]:
    """Count each query's pairs of unequal label, and those in the right order; a tied pair is half right.

    Documents come by descending score. A binary indexed tree over the labels (Fenwick 1994) counts those
    that were seen above.
    """
    n_queries = len(query_boundaries) - 1
    right, pairs = np.zeros(n_queries), np.zeros(n_queries)
    for query in range(n_queries):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        judged = labels[start:stop][~np.isnan(labels[start:stop])]
        levels = np.unique(judged)
        tree = np.zeros(len(levels) + 1, np.int64)
        seen, first = 0, start
        while first < stop:
            last = first
            while last < stop and scores[last] == scores[first]:
                last += 1
            for row in range(first, last):
                if not np.isnan(labels[row]):
                    level = np.searchsorted(levels, labels[row])
                    lower, at_most = _count(tree, level), _count(tree, level + 1)
                    right[query] += seen - at_most
                    pairs[query] += seen - at_most + lower
            for row in range(first, last):
                if not np.isnan(labels[row]):
                    level = np.searchsorted(levels, labels[row])
                    _add(tree, level + 1)
                    seen += 1
            tied = _unequal_pairs(labels[first:last])
            right[query] += 0.5 * tied
            pairs[query] += tied
            first = last
    return right, pairs


@compiled
def _unequal_pairs(labels: Float64Array) -> float:
    if len(labels) < 2:
        return 0.0
    ordered = np.sort(labels[~np.isnan(labels)])
    n = len(ordered)
    equal, run = 0.0, 0
    for i in range(n):
        run = run + 1 if i > 0 and ordered[i] == ordered[i - 1] else 0
        equal += run
    return n * (n - 1) / 2.0 - equal


@compiled
def _count(tree: Int64Array, level: int) -> int:
    """Count the documents seen whose level is below `level`."""
    total = 0
    while level > 0:
        total += tree[level]
        level -= level & -level
    return total


@compiled
def _add(tree: Int64Array, level: int) -> None:
    while level < len(tree):
        tree[level] += 1
        level += level & -level


@dataclass(frozen=True)
class PairwiseAccuracy(Metric):
    """Share of the pairs of unequal label that are in the right order, a tied pair counting half.

    Source: "pair-wise correct" of Burges et al. 2006, section 2.
    """

    name: ClassVar[str] = "pairwise-accuracy"
    summary: ClassVar[str] = "Share of pairs of unequal label in the right order"
    formula: ClassVar[str] = "#{y_i > y_j, s_i > s_j} / #{y_i > y_j}, ties half"
    source: ClassVar[str] = "Burges et al. 2006, section 2"
    uses: ClassVar[tuple[str, ...]] = ("queries_without_relevant",)
    takes_cutoff: ClassVar[bool] = False

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return the share of each query, undefined where it has no pair."""
        ranking = ranked.ranking
        right, pairs = _count_pairs(self._labels(ranking.labels), ranked.scores, ranking.boundaries)
        return right / np.maximum(pairs, 1.0), pairs == 0.0

    def _labels(self, labels: Float64Array) -> Float64Array:
        return labels


@dataclass(frozen=True)
class Auc(PairwiseAccuracy):
    """Area under the ROC curve of relevant against other documents: the pairwise accuracy of binary labels.

    Source: Hanley and McNeil 1982.
    """

    name: ClassVar[str] = "auc"
    summary: ClassVar[str] = "Chance that a relevant document stands above another"
    formula: ClassVar[str] = "#{i relevant, j not, s_i > s_j} / (R N), ties half"
    source: ClassVar[str] = "Hanley and McNeil 1982"
    uses: ClassVar[tuple[str, ...]] = ("relevance_threshold", "queries_without_relevant")

    def _labels(self, labels: Float64Array) -> Float64Array:
        relevant = (labels > self.conventions.relevance_threshold).astype(np.float64)
        return np.where(np.isnan(labels), np.nan, relevant)
