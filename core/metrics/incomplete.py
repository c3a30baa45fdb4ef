"""Binary metrics for incomplete judgments, which distinguish unjudged from non-relevant documents."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.jit import compiled
from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.binary import BinaryMetric
from core.metrics.ranked import RankedLabels, count_above
from core.ranges import over_ranges, per_query
from core.types import Float64Array, Int64Array

_JUDGED_THRESHOLD = -1e-300  # judged labels are above it; labels below 0 are only pooled (trec_eval)
_EPSILON = 1e-5  # trec_eval's INFAP_EPSILON


@compiled
def _count_preferences(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    relevant: Float64Array,
    retrieved_relevant: Int64Array,
    nonrelevant_above: Int64Array,
) -> None:
    """Count each query's relevant documents, and sum the non-relevant documents above each, capped at R."""
    for query in range(first, last):
        n_relevant, above = np.int64(relevant[query]), 0
        for row in range(query_boundaries[query], query_boundaries[query + 1]):
            if labels[row] > threshold:
                retrieved_relevant[query] += 1
                nonrelevant_above[query] += min(above, n_relevant)
            elif labels[row] >= 0.0:
                above += 1


@compiled
def _sum_expected_precisions(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    sums: Float64Array,
) -> None:
    """Sum the expected precisions at the relevant ranks of each query."""
    for query in range(first, last):
        start = query_boundaries[query]
        relevant, other, unjudged = 0.0, 0.0, 0.0
        for row in range(start, query_boundaries[query + 1]):
            if labels[row] > threshold:
                share = (relevant + _EPSILON) / (relevant + other + 2.0 * _EPSILON)
                sums[query] += (1.0 + (relevant + other + unjudged) * share) / (row - start + 1.0)
                relevant += 1.0
            elif labels[row] >= 0.0:
                other += 1.0
            elif labels[row] < 0.0:
                unjudged += 1.0


@dataclass(frozen=True)
class Bpref(BinaryMetric):
    """bpref: how rarely judged non-relevant documents rank above relevant ones.

    bpref = (1/R) Σ_{retrieved relevant} 1 − min(n, R) / min(R, N), n the judged non-relevant documents
    above the relevant document, N all judged non-relevant documents; unjudged documents are ignored.

    Source: Buckley and Voorhees 2004, as trec_eval computes it.
    """

    name: ClassVar[str] = "bpref"
    summary: ClassVar[str] = "Preference of relevant over judged non-relevant documents"
    formula: ClassVar[str] = "(1/R) Σ_{relevant} 1 − min(n_above, R) / min(R, N)"
    source: ClassVar[str] = "Buckley and Voorhees 2004, as trec_eval computes it"
    takes_cutoff: ClassVar[bool] = False

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return bpref of each query."""
        labels, boundaries = ranked.ranking.labels, ranked.ranking.boundaries
        threshold = self.conventions.relevance_threshold
        retrieved_relevant, nonrelevant_above = np.zeros((2, len(relevant)), np.int64)
        counts = retrieved_relevant, nonrelevant_above
        n = len(relevant)
        over_ranges(_count_preferences, n, boundaries, labels, threshold, relevant, *counts, work=len(labels))
        judged = ranked.ideal.count_above(_JUDGED_THRESHOLD)
        # Without judged non-relevant documents `nonrelevant_above` is 0, and the bound has no effect.
        bound = np.maximum(np.minimum(relevant, judged - relevant), 1.0)
        # Whole numbers until the last step, so that preferences that cancel give exactly 0.
        return np.asarray((retrieved_relevant * bound - nonrelevant_above) / (bound * relevant))


@dataclass(frozen=True)
class InferredAveragePrecision(BinaryMetric):
    """Average precision, inferred from a pool of which a random part was judged.

    infAP = (1/R) Σ_{relevant at rank r} (1 + p (n + ε) / (n + m + 2ε)) / r, where ε = 1e-5. Above rank r
    are p pooled documents, n of them relevant and m judged non-relevant. Documents with a label below 0 are
    pooled, but not judged; documents without a label are not pooled.

    Source: Yilmaz and Aslam 2006, as trec_eval's `infAP`.
    """

    name: ClassVar[str] = "inf-ap"
    summary: ClassVar[str] = "Average precision estimated from a partially judged pool"
    formula: ClassVar[str] = "(1/R) Σ_{r, relevant} (1 + pooled · relevant / judged) / r, counted above r"
    source: ClassVar[str] = "Yilmaz and Aslam 2006, as trec_eval's infAP"
    takes_cutoff: ClassVar[bool] = False

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return the inferred average precision of each query."""
        sums = self.per_query(_sum_expected_precisions, ranked)
        return np.asarray(sums / relevant)


@dataclass(frozen=True)
class Judged(Metric):
    """Share of the retrieved documents that are judged, whatever their labels; undefined for empty rankings.

    judged@k = |judged among the top k| / min(k, retrieved).

    Source: ir_measures' `Judged`.
    """

    name: ClassVar[str] = "judged"
    summary: ClassVar[str] = "Share of judged documents in the top k"
    formula: ClassVar[str] = "|judged in the top k| / min(k, retrieved)"
    source: ClassVar[str] = "ir_measures' Judged"
    uses: ClassVar[tuple[str, ...]] = ("queries_without_relevant",)

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return the share of each query, undefined where nothing was retrieved."""
        boundaries = ranked.ranking.boundaries
        judged = per_query(
            count_above, boundaries, ranked.ranking.labels, -np.inf, finite_cutoff(self.cutoff)
        )
        counted = np.minimum(np.diff(boundaries), finite_cutoff(self.cutoff))
        return judged / np.maximum(counted, 1), counted == 0
