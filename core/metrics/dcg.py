"""Discounted cumulative gain and its normalised form."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.gains import inverse_discounts
from core.jit import compiled
from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.conventions import Conventions
from core.metrics.ranked import Ideal, RankedLabels, order_by_score
from core.ranges import per_query
from core.types import Float64Array, Int64Array


def weights(conventions: Conventions, boundaries: Int64Array) -> Float64Array:
    """Return 1/D(r) for the ranks of the longest query, from rank 1 on."""
    n = int(np.diff(boundaries).max(initial=0))
    if conventions.discount != "letor":
        return inverse_discounts(conventions.discount, n)
    # LETOR does not discount ranks 1 and 2, and divides by log2(r) from there (Qin et al. 2010).
    return np.asarray(1.0 / np.log2(np.maximum(np.arange(1.0, n + 1.0), 2.0)))


def sum_gains(
    gains: Float64Array, query_boundaries: Int64Array, weights: Float64Array, cutoff: int
) -> Float64Array:
    """Return the DCG of each query from its gains in rank order."""
    return per_query(_sum_gains, query_boundaries, gains, weights, cutoff)


@compiled
def _sum_gains(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    gains: Float64Array,
    weights: Float64Array,
    cutoff: int,
    sums: Float64Array,
) -> None:
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        total = 0.0
        for rank in range(min(stop - start, cutoff)):
            total += gains[start + rank] * weights[rank]
        sums[query] = total


def max_dcg(ideal: Ideal, conventions: Conventions, cutoff: int | None = None) -> Float64Array:
    """Return the DCG of each query's ideal ranking up to a cutoff, cached in `ideal`."""

    def compute() -> Float64Array:
        document_gains = ideal.gains(conventions.gain)
        if isinstance(conventions.gain, tuple):  # the gains of a list need not rise with the labels
            document_gains = document_gains[order_by_score(document_gains, ideal.boundaries)]
        rank_weights = weights(conventions, ideal.boundaries)
        return sum_gains(document_gains, ideal.boundaries, rank_weights, finite_cutoff(cutoff))

    return ideal.once(("max_dcg", conventions.gain, conventions.discount, cutoff), compute)


@compiled
def _sum_tied_gains(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    gains: Float64Array,
    scores: Float64Array,
    weights: Float64Array,
    cutoff: int,
    sums: Float64Array,
) -> None:
    """Sum the DCG of each query, with the mean gain for tied documents (McSherry and Najork 2008)."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        begin = start
        while begin < min(stop, start + cutoff):
            end, gain, weight = begin, 0.0, 0.0
            while end < stop and scores[end] == scores[begin]:
                gain += gains[end]
                if end - start < cutoff:
                    weight += weights[end - start]
                end += 1
            sums[query] += gain / (end - begin) * weight
            begin = end


@dataclass(frozen=True)
class Dcg(Metric):
    """DCG@k = Σ_{r <= k} g(y) / D(r), in units of gain; 0 where a query has no relevant document.

    Source: Järvelin and Kekäläinen 2002, with the exponential gain of Burges et al. 2005.
    """

    name: ClassVar[str] = "dcg"
    summary: ClassVar[str] = "Discounted cumulative gain"
    formula: ClassVar[str] = "Σ_{r ≤ k} g(y_r) / D(r)"
    source: ClassVar[str] = "Järvelin and Kekäläinen 2002"
    uses: ClassVar[tuple[str, ...]] = ("gain", "discount")
    averages_ties: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def contract(self) -> dict[str, Any]:
        """Return the conventions that apply; a query without a relevant document has the value 0."""
        return {"queries_without_relevant": 0, **super().contract()}

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return DCG@k of each query."""
        conventions = self.conventions
        ranking = ranked.ranking
        document_gains = ranking.gains(conventions.gain)
        rank_weights = weights(conventions, ranking.boundaries)
        if conventions.ties == "average":
            return per_query(
                _sum_tied_gains,
                ranking.boundaries,
                document_gains,
                ranked.scores,
                rank_weights,
                self.last_rank,
            ), None
        return sum_gains(document_gains, ranking.boundaries, rank_weights, self.last_rank), None


@dataclass(frozen=True)
class Ndcg(Dcg):
    """NDCG@k = DCG@k / maxDCG@k, in 0..1; undefined where a query has no relevant document.

    Source: Burges et al. 2006, section 2.

    Example:
        >>> import numpy as np
        >>> Ndcg(1)(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([0, 2])).round(3).tolist()
        [0.333]
    """

    name: ClassVar[str] = "ndcg"
    summary: ClassVar[str] = "DCG divided by the DCG of the ideal ranking"
    formula: ClassVar[str] = "DCG@k / maxDCG@k"
    source: ClassVar[str] = "Järvelin and Kekäläinen 2002; Burges et al. 2006, section 2"
    uses: ClassVar[tuple[str, ...]] = ("gain", "discount", "queries_without_relevant", "short_lists")
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return NDCG@k of each query, undefined where no document has a gain."""
        dcg, _ = super().measure(ranked)
        ideal = max_dcg(ranked.ideal, self.conventions, self.cutoff)
        values: Float64Array = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0.0)
        if self.conventions.short_lists == "zero" and self.cutoff is not None:
            lengths = np.minimum(
                np.diff(ranked.ranking.boundaries), finite_cutoff(self.conventions.max_documents)
            )
            values[lengths < self.cutoff] = 0.0
        return values, ideal <= 0.0
