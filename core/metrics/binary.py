"""Metrics of binary relevance."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.errors import InvalidInput
from core.jit import Kernel, compiled
from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.ranked import RankedLabels, count_above
from core.ranges import per_query
from core.types import Float64Array, Int64Array

_MIN_IN_GEOMETRIC_MEAN = 1e-5  # trec_eval's MIN_GEO_MEAN: one query of 0 would make the mean 0


@compiled
def _sum_precisions(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    scores: Float64Array,
    cutoff: int,
    grouped: bool,
    sums: Float64Array,
) -> None:
    """Sum the precisions at the relevant ranks up to `cutoff`; if `grouped`, at the last rank of each tie.

    Of a tie across the cutoff, the same share of the relevant documents counts as of all its documents.
    """
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        total, relevant, begin = 0.0, 0.0, start
        while begin < min(stop, start + cutoff):
            end, relevant_in_tie = begin, 0.0
            while end < stop and (end == begin or (grouped and scores[end] == scores[begin])):
                if labels[end] > threshold:
                    relevant_in_tie += 1.0
                end += 1
            if relevant_in_tie > 0.0:
                relevant += relevant_in_tie
                share = min(1.0, (start + cutoff - begin) / (end - begin))
                total += share * relevant_in_tie * relevant / (end - start)
            begin = end
        sums[query] = total


@compiled
def _first_relevant(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    cutoff: int,
    ranks: Float64Array,
) -> None:
    """Store the rank of each query's first relevant document, 0 where there is none up to `cutoff`."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > threshold:
                ranks[query] = row - start + 1
                break


@compiled
def _sum_persistent(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    cutoff: int,
    persistence: float,
    sums: Float64Array,
) -> None:
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        total, weight = 0.0, 1.0 - persistence
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > threshold:
                total += weight
            weight *= persistence
        sums[query] = total


@dataclass(frozen=True)
class BinaryMetric(Metric):
    """Base of the binary metrics: undefined on a query without a relevant document."""

    uses: ClassVar[tuple[str, ...]] = ("relevance_threshold", "queries_without_relevant")

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return the metric of each query, undefined where nothing is relevant."""
        relevant = ranked.ideal.count_above(self.conventions.relevance_threshold)
        return self.values(ranked, np.maximum(relevant, 1.0)), relevant == 0.0

    @abstractmethod
    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return the metric of each query; `relevant` is the number of its relevant documents, at least 1."""

    def relevant_in_top(self, ranked: RankedLabels) -> Float64Array:
        """Count the relevant documents in the top k."""
        return self.per_query(count_above, ranked, finite_cutoff(self.cutoff))

    def per_query(self, kernel: Kernel, ranked: RankedLabels, *arguments: Any) -> Float64Array:
        """Call a kernel that computes a number for each query from its ranked labels and the threshold."""
        ranking = ranked.ranking
        threshold = self.conventions.relevance_threshold
        return per_query(kernel, ranking.boundaries, ranking.labels, threshold, *arguments)


@dataclass(frozen=True)
class AveragePrecision(BinaryMetric):
    """AP@k = (1/R) Σ_{r <= k, relevant} (relevant documents in the top r) / r, R all relevant documents.

    By the convention `precision_sum_over` `reachable`, min(R, k) replaces R as the divisor. Its mean over
    queries is MAP. Source: Voorhees 2001, as trec_eval's `map` and `map_cut`.
    """

    name: ClassVar[str] = "map"
    summary: ClassVar[str] = "Average precision; its mean over queries is MAP"
    formula: ClassVar[str] = "(1/R) Σ_{r ≤ k, relevant} precision@r"
    source: ClassVar[str] = "Voorhees 2001, as trec_eval's map and map_cut"
    uses: ClassVar[tuple[str, ...]] = (*BinaryMetric.uses, "precision_sum_over")
    averages_ties: ClassVar[bool] = True

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return AP@k of each query."""
        grouped = self.conventions.ties == "average"
        sums = self.per_query(_sum_precisions, ranked, ranked.scores, self.last_rank, grouped)
        reachable = self.conventions.precision_sum_over == "reachable"
        return np.asarray(
            sums / (np.minimum(relevant, finite_cutoff(self.cutoff)) if reachable else relevant)
        )


@dataclass(frozen=True)
class ReciprocalRank(BinaryMetric):
    """RR@k = 1 / rank of the first relevant document, 0 beyond k. Its mean over queries is MRR."""

    name: ClassVar[str] = "mrr"
    summary: ClassVar[str] = "Reciprocal of the rank of the first relevant document; its mean is MRR"
    formula: ClassVar[str] = "1 / rank of the first relevant document; 0 beyond k"
    source: ClassVar[str] = "Voorhees 1999; Burges et al. 2006, section 2"

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return RR@k of each query."""
        ranks = self.per_query(_first_relevant, ranked, finite_cutoff(self.cutoff))
        return np.where(ranks > 0, 1.0 / np.maximum(ranks, 1), 0.0)


@dataclass(frozen=True)
class GeometricMeanAveragePrecision(AveragePrecision):
    """Average precision of at least 1e-5, whose mean over queries is geometric.

    Source: Robertson 2006, as trec_eval's `gm_map`.
    """

    name: ClassVar[str] = "gm-map"
    summary: ClassVar[str] = "Average precision with a geometric mean over queries"
    formula: ClassVar[str] = "max(AP, 10⁻⁵); over n queries (Π AP)^(1/n)"
    source: ClassVar[str] = "Robertson 2006, as trec_eval's gm_map"
    takes_cutoff: ClassVar[bool] = False
    geometric_mean: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (_MIN_IN_GEOMETRIC_MEAN, 1.0)

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return the average precision of each query, at least 1e-5 where it is defined."""
        return np.maximum(super().of_ranked(ranked), _MIN_IN_GEOMETRIC_MEAN)

    def contract(self) -> dict[str, object]:
        """Return the conventions in force, with the kind of mean."""
        return {**super().contract(), "mean": "geometric"}


@dataclass(frozen=True)
class Success(BinaryMetric):
    """Success@k = 1 where a document of the top k is relevant, else 0."""

    name: ClassVar[str] = "success"
    summary: ClassVar[str] = "Whether the top k contain a relevant document"
    formula: ClassVar[str] = "1 if a document of the top k is relevant, else 0"
    source: ClassVar[str] = "trec_eval's success"

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return 0 or 1 for each query."""
        return np.asarray(self.relevant_in_top(ranked) > 0.0, np.float64)


@dataclass(frozen=True)
class Precision(BinaryMetric):
    """P@k = relevant documents in the top k, over k; over the list's length when k is None."""

    name: ClassVar[str] = "precision"
    summary: ClassVar[str] = "Share of relevant documents among the top k"
    formula: ClassVar[str] = "relevant documents in the top k / k"
    source: ClassVar[str] = "trec_eval's P"

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return P@k of each query."""
        sizes = np.maximum(np.diff(ranked.ranking.boundaries), 1)
        return np.asarray(self.relevant_in_top(ranked) / (sizes if self.cutoff is None else self.cutoff))


@dataclass(frozen=True)
class Recall(BinaryMetric):
    """Recall@k = relevant documents in the top k, over all relevant documents."""

    name: ClassVar[str] = "recall"
    summary: ClassVar[str] = "Share of the relevant documents that are in the top k"
    formula: ClassVar[str] = "relevant documents in the top k / R"
    source: ClassVar[str] = "trec_eval's recall"

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return recall@k of each query."""
        return np.asarray(self.relevant_in_top(ranked) / relevant)


@dataclass(frozen=True)
class WinnerTakesAll(BinaryMetric):
    """1 where the first document is relevant, else 0: one minus the cost of Burges et al. 2006, section 2."""

    name: ClassVar[str] = "wta"
    summary: ClassVar[str] = "Whether the first document is relevant"
    formula: ClassVar[str] = "1 if the document at rank 1 is relevant, else 0"
    source: ClassVar[str] = "Burges et al. 2006, section 2 (one minus its cost); success@1"
    takes_cutoff: ClassVar[bool] = False

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return 0 or 1 for each query."""
        return self.per_query(_first_relevant, ranked, 1)


@dataclass(frozen=True)
class RankBiasedPrecision(BinaryMetric):
    """RBP@k = (1 − p) Σ_{r <= k, relevant} p^(r − 1), p the probability of viewing the next document.

    Relevance is binary here; the target `rbp` of the loss `lambdarank` uses graded relevance,
    g(y) / g(max_label).

    Source: Moffat and Zobel 2008. Spelled `rbp` (p = 0.8) or `rbp(0.95)`.
    """

    name: ClassVar[str] = "rbp"
    summary: ClassVar[str] = (
        "Rank-biased precision: expected relevance per viewed document for a user of persistence p; binary,"
        " whereas lambdarank's target rbp is graded"
    )
    formula: ClassVar[str] = "(1 − p) Σ_{r ≤ k, relevant} p^(r − 1)"
    source: ClassVar[str] = "Moffat and Zobel 2008"

    persistence: float = 0.8

    def __post_init__(self) -> None:
        if not 0.0 < self.persistence < 1.0:
            raise InvalidInput.at("", "the persistence of rbp must be above 0 and below 1")

    def contract(self) -> dict[str, object]:
        """Return the conventions in force, with the persistence."""
        return {**super().contract(), "persistence": self.persistence}

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return RBP@k of each query."""
        return self.per_query(_sum_persistent, ranked, finite_cutoff(self.cutoff), self.persistence)
