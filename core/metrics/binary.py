"""Metrics that know only relevant (label > 0) and not relevant."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.jit import compiled
from core.metrics.base import RankedLabels, reach
from core.metrics.ranked import rank_labels
from core.types import Float64Array, FloatArray, Int64Array


@compiled
def _count_relevant(labels: Float64Array, query_boundaries: Int64Array) -> Float64Array:
    counts = np.zeros(len(query_boundaries) - 1)
    for query in range(len(counts)):
        for row in range(query_boundaries[query], query_boundaries[query + 1]):
            if labels[row] > 0.0:
                counts[query] += 1.0
    return counts


@compiled
def _count_found(labels: Float64Array, query_boundaries: Int64Array, cutoff: int) -> Float64Array:
    """Relevant documents in the top `cutoff` of each query."""
    counts = np.zeros(len(query_boundaries) - 1)
    for query in range(len(counts)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > 0.0:
                counts[query] += 1.0
    return counts


@compiled
def _sum_precisions(labels: Float64Array, query_boundaries: Int64Array, cutoff: int) -> Float64Array:
    """Sum of the precisions at the relevant ranks up to `cutoff` of each query."""
    sums = np.zeros(len(query_boundaries) - 1)
    for query in range(len(sums)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        found = 0.0
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > 0.0:
                found += 1.0
                sums[query] += found / (row - start + 1.0)
    return sums


@compiled
def _first_reciprocals(labels: Float64Array, query_boundaries: Int64Array, cutoff: int) -> Float64Array:
    """One over the rank of the first relevant document of each query, 0 beyond `cutoff`."""
    values = np.zeros(len(query_boundaries) - 1)
    for query in range(len(values)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > 0.0:
                values[query] = 1.0 / (row - start + 1.0)
                break
    return values


@dataclass(frozen=True)
class BinaryMetric:
    """Base of the binary metrics: NaN on a query without a relevant document."""

    name: ClassVar[str]
    summary: ClassVar[str]
    cutoff: int | None = None

    def check_labels(self, labels: FloatArray) -> None:
        """Any label >= 0 will do."""

    def __call__(self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array) -> Float64Array:
        """Return the metric of each query."""
        return self.of_ranked(rank_labels(scores, labels, query_boundaries))

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return the metric of each query from labels already ranked."""
        relevant = _count_relevant(ranked.by_score, ranked.query_boundaries)
        values = self._values(ranked, np.maximum(relevant, 1.0))
        return np.where(relevant > 0.0, values, np.nan)

    def contract(self) -> dict[str, Any]:
        """Return the conventions in force."""
        return {"relevant": "label > 0", "ties": "stable", "queries_without_relevant": "skip"}

    def _values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        raise NotImplementedError


@dataclass(frozen=True)
class AveragePrecision(BinaryMetric):
    """AP@k = (1/R) Σ_{r <= k, relevant} (relevant documents in the top r) / r, R all relevant documents.

    Its mean over queries is MAP. Source: Voorhees 2001, as trec_eval's `map` and `map_cut`.
    """

    name: ClassVar[str] = "map"
    summary: ClassVar[str] = "Average precision; its mean over queries is MAP"

    def _values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        sums = _sum_precisions(ranked.by_score, ranked.query_boundaries, reach(self.cutoff))
        return np.asarray(sums / relevant)


@dataclass(frozen=True)
class ReciprocalRank(BinaryMetric):
    """RR@k = 1 / rank of the first relevant document, 0 beyond k. Its mean over queries is MRR."""

    name: ClassVar[str] = "mrr"
    summary: ClassVar[str] = "One over the rank of the first relevant document"

    def _values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        return np.asarray(_first_reciprocals(ranked.by_score, ranked.query_boundaries, reach(self.cutoff)))


@dataclass(frozen=True)
class Precision(BinaryMetric):
    """P@k = relevant documents in the top k, over k; over the list's length when k is None."""

    name: ClassVar[str] = "precision"
    summary: ClassVar[str] = "Share of relevant documents among the top k"

    def _values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        found = _count_found(ranked.by_score, ranked.query_boundaries, reach(self.cutoff))
        sizes = np.maximum(np.diff(ranked.query_boundaries), 1)
        return np.asarray(found / (sizes if self.cutoff is None else self.cutoff))


@dataclass(frozen=True)
class Recall(BinaryMetric):
    """R@k = relevant documents in the top k, over all relevant documents of the query."""

    name: ClassVar[str] = "recall"
    summary: ClassVar[str] = "Share of the relevant documents that the top k holds"

    def _values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        found = _count_found(ranked.by_score, ranked.query_boundaries, reach(self.cutoff))
        return np.asarray(found / relevant)
