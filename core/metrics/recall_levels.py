"""Binary metrics of precision at levels of recall."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.errors import InvalidInput
from core.jit import compiled
from core.metrics.binary import BinaryMetric
from core.metrics.ranked import RankedLabels
from core.ranges import over_ranges
from core.types import Float64Array, Int64Array

_ELEVEN_LEVELS = np.arange(11) / 10.0


@compiled
def _count_to_depths(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    depths: Int64Array,
    counts: Float64Array,
) -> None:
    """Count the labels above a threshold among the first `depths[q]` of each query."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        for row in range(start, min(stop, start + depths[query])):
            if labels[row] > threshold:
                counts[query] += 1.0


@compiled
def _interpolated_precisions(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    required_counts: Int64Array,
    precisions: Float64Array,
) -> None:
    """Store the highest precision from the rank of the n-th relevant document on, 0 if fewer are retrieved.

    Args:
        last: Query after the last query of the range.
        query_boundaries: (n_queries + 1,) offsets.
        labels: (n_documents,) labels in rank order.
        threshold: Documents with a label above this are relevant.
        required_counts: (n_queries, n_levels) the number n of relevant documents of each level, ascending.
        precisions: (n_queries, n_levels) zeros, filled.
    """
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        found = 0
        for row in range(start, stop):
            found += labels[row] > threshold
        level, best = required_counts.shape[1] - 1, 0.0
        while level >= 0 and required_counts[query, level] > found:
            level -= 1
        for row in range(stop - 1, start - 1, -1):
            best = max(best, found / (row - start + 1.0))
            if labels[row] > threshold:
                while level >= 0 and required_counts[query, level] == found:
                    precisions[query, level] = best
                    level -= 1
                found -= 1
        precisions[query, : level + 1] = best  # remaining levels, which need no relevant document


@dataclass(frozen=True)
class RPrecision(BinaryMetric):
    """R-precision = relevant documents in the top R, over R, the number of all relevant documents."""

    name: ClassVar[str] = "r-precision"
    summary: ClassVar[str] = "Precision at rank R, the number of relevant documents"
    formula: ClassVar[str] = "relevant documents in the top R / R"
    source: ClassVar[str] = "trec_eval's Rprec"
    takes_cutoff: ClassVar[bool] = False

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return the R-precision of each query."""
        counts = self.per_query(_count_to_depths, ranked, relevant.astype(np.int64))
        return np.asarray(counts / relevant)


@dataclass(frozen=True)
class _Interpolated(BinaryMetric):
    takes_cutoff: ClassVar[bool] = False

    def at_levels(self, ranked: RankedLabels, relevant: Float64Array, levels: Float64Array) -> Float64Array:
        """Return interpolated precisions, (n_queries, n_levels)."""
        # Rounded as in trec_eval 9; version 10 rounds to the nearest whole number.
        required_counts = (levels * relevant[:, np.newaxis] + 0.9).astype(np.int64)
        labels, boundaries = ranked.ranking.labels, ranked.ranking.boundaries
        threshold = self.conventions.relevance_threshold
        precisions = np.zeros(required_counts.shape)
        over_ranges(
            _interpolated_precisions,
            len(required_counts),
            boundaries,
            labels,
            threshold,
            required_counts,
            precisions,
            work=len(labels),
        )
        return precisions


@dataclass(frozen=True)
class InterpolatedPrecision(_Interpolated):
    """Interpolated precision: the highest precision at any rank where the recall is reached.

    A recall of c is reached with ⌊c R + 0.9⌋ relevant documents, 0 to R of them. Spelled `iprec@0.1`; `iprec`
    means recall 0: the highest precision at any rank.

    Source: trec_eval's `iprec_at_recall`.
    """

    name: ClassVar[str] = "iprec"
    summary: ClassVar[str] = "Highest precision at any rank where the recall is at least c, as in iprec@0.1"
    formula: ClassVar[str] = "max precision@r over ranks r with ⌊c R + 0.9⌋ relevant documents in the top r"
    source: ClassVar[str] = "trec_eval 9's iprec_at_recall"

    recall: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.recall <= 1.0:
            raise InvalidInput.at("", "the recall of iprec must be from 0 to 1")

    @classmethod
    def examples(cls) -> tuple[str, ...]:
        """Return example spellings of the metric."""
        return cls.name, f"{cls.name}@0.1"

    def contract(self) -> dict[str, object]:
        """Return the conventions in force, with the recall."""
        return {**super().contract(), "recall": self.recall}

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return the precision of each query."""
        return self.at_levels(ranked, relevant, np.array([self.recall]))[:, 0]


@dataclass(frozen=True)
class ElevenPointAverage(_Interpolated):
    """Mean of the interpolated precisions at recall 0, 0.1, …, 1. Source: trec_eval's `11pt_avg`."""

    name: ClassVar[str] = "11pt-avg"
    summary: ClassVar[str] = "Mean of the interpolated precisions at the recalls 0, 0.1, …, 1"
    formula: ClassVar[str] = "(1/11) Σ_{c = 0, 0.1, …, 1} iprec@c"
    source: ClassVar[str] = "trec_eval 9's 11pt_avg"

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return the mean precision of each query."""
        return np.asarray(self.at_levels(ranked, relevant, _ELEVEN_LEVELS).mean(axis=1))
