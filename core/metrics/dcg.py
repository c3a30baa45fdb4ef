"""Discounted cumulative gain and its normalised form."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import prange

from core.jit import parallel
from core.metrics.base import Measured, Metric, reach
from core.metrics.conventions import Conventions
from core.metrics.ranked import Ideal, RankedLabels
from core.types import Float64Array, Int64Array


def weights(conventions: Conventions, boundaries: Int64Array) -> Float64Array:
    """Return 1/D(r) for the ranks of the longest query, from rank 1 on."""
    ranks = np.arange(1, int(np.diff(boundaries).max(initial=0)) + 1, dtype=np.float64)
    if conventions.discount == "reciprocal":
        return np.asarray(1.0 / ranks)
    # LETOR divides by nothing at ranks 1 and 2, then by log2(r) (Qin et al. 2010).
    return np.asarray(
        1.0 / np.log2(np.maximum(ranks, 2.0) if conventions.discount == "letor" else 1.0 + ranks)
    )


@parallel
def sum_gains(
    gains: Float64Array, query_boundaries: Int64Array, weights: Float64Array, cutoff: int
) -> Float64Array:
    """DCG of each query from its gains in rank order."""
    sums = np.zeros(len(query_boundaries) - 1)
    for query in prange(len(sums)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        total = 0.0
        for rank in range(min(stop - start, cutoff)):
            total += gains[start + rank] * weights[rank]
        sums[query] = total
    return sums


def max_dcg(ideal: Ideal, held: Conventions, cutoff: int | None = None) -> Float64Array:
    """Return the DCG of each query's ideal ranking, computed once."""
    return ideal.once(
        ("max_dcg", held.gain, held.discount, cutoff),
        lambda: sum_gains(
            ideal.gains(held.gain), ideal.boundaries, weights(held, ideal.boundaries), reach(cutoff)
        ),
    )


@parallel
def _sum_tied_gains(
    gains: Float64Array,
    scores: Float64Array,
    query_boundaries: Int64Array,
    weights: Float64Array,
    cutoff: int,
) -> Float64Array:
    """DCG of each query, each document of equal score gaining their mean (McSherry and Najork 2008)."""
    sums = np.zeros(len(query_boundaries) - 1)
    for query in prange(len(sums)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        first = start
        while first < min(stop, start + cutoff):
            last, gain, weight = first, 0.0, 0.0
            while last < stop and scores[last] == scores[first]:
                gain += gains[last]
                if last - start < cutoff:
                    weight += weights[last - start]
                last += 1
            sums[query] += gain / (last - first) * weight
            first = last
    return sums


@dataclass(frozen=True)
class Dcg(Metric):
    """DCG@k = Σ_{r <= k} g(y) / D(r), in gain; 0 where a query has no relevant document.

    Source: Järvelin and Kekäläinen 2002, with the exponential gain of Burges et al. 2005.
    """

    name: ClassVar[str] = "dcg"
    summary: ClassVar[str] = "Discounted cumulative gain"
    formula: ClassVar[str] = "Σ_{r ≤ k} g(y_r) / D(r)"
    source: ClassVar[str] = "Järvelin and Kekäläinen 2002"
    uses: ClassVar[tuple[str, ...]] = ("gain", "discount")

    def contract(self) -> dict[str, Any]:
        """Return the conventions in force; a query without a relevant document has the value 0."""
        return {"queries_without_relevant": 0, **super().contract()}

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return DCG@k of each query."""
        held = self.conventions
        ranking = ranked.ranking
        gained, by_rank = ranking.gains(held.gain), weights(held, ranking.boundaries)
        if held.ties == "average":
            return _sum_tied_gains(
                gained, ranked.scores, ranking.boundaries, by_rank, reach(self.cutoff)
            ), None
        return sum_gains(gained, ranking.boundaries, by_rank, reach(self.cutoff)), None


@dataclass(frozen=True)
class Ndcg(Dcg):
    """NDCG@k = DCG@k / maxDCG@k, in 0..1; undefined where a query has no relevant document.

    Source: Burges et al. 2006, section 3.

    Example:
        >>> import numpy as np
        >>> Ndcg(1)(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([0, 2])).round(3).tolist()
        [0.333]
    """

    name: ClassVar[str] = "ndcg"
    summary: ClassVar[str] = "DCG over the DCG of the ideal ranking"
    formula: ClassVar[str] = "DCG@k / maxDCG@k"
    source: ClassVar[str] = "Järvelin and Kekäläinen 2002; Burges et al. 2006, section 3"
    uses: ClassVar[tuple[str, ...]] = ("gain", "discount", "queries_without_relevant", "short_lists")

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return NDCG@k of each query, undefined where nothing gains."""
        reached, _ = super().measure(ranked)
        ideal = max_dcg(ranked.ideal, self.conventions, self.cutoff)
        values: Float64Array = np.divide(reached, ideal, out=np.zeros_like(reached), where=ideal > 0.0)
        if self.conventions.short_lists == "zero" and self.cutoff is not None:
            values[np.diff(ranked.ranking.boundaries) < self.cutoff] = 0.0
        return values, ideal <= 0.0
