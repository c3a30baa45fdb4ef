"""Cost metrics of the LambdaLoss paper, for which lower is better.

Judged documents that were not retrieved come last, in input order; otherwise an empty ranking would be best.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.jit import compiled
from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.dcg import max_dcg, sum_gains, weights
from core.metrics.ranked import RankedLabels
from core.ranges import per_query
from core.types import Float64Array, Int64Array


@compiled
def _sum_positions(
    first: int, last: int, query_boundaries: Int64Array, labels: Float64Array, sums: Float64Array
) -> None:
    for query in range(first, last):
        start = query_boundaries[query]
        for row in range(start, query_boundaries[query + 1]):
            if labels[row] > 0.0:
                sums[query] += labels[row] * (row - start + 1.0)


@compiled
def _sum_swaps(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    gains: Float64Array,
    weights: Float64Array,
    sums: Float64Array,
) -> None:
    """Sum each gain times the sum of |1/D_i − 1/D_j| over the ranks j above its rank i."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        above = 0.0
        for rank in range(stop - start):
            sums[query] += gains[start + rank] * (above - rank * weights[rank])
            above += weights[rank]


@dataclass(frozen=True)
class AverageRelevancePosition(Metric):
    """ARP = Σ y_i π_i, not normalised, as in the paper; labels below 0 count as 0.

    Source: Wang et al. 2018, equation 13.
    """

    name: ClassVar[str] = "arp"
    summary: ClassVar[str] = "Sum of ranks weighted by label; lower is better"
    formula: ClassVar[str] = "Σ y_i π_i"
    source: ClassVar[str] = "Wang et al. 2018, eq. 13"
    takes_cutoff: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def contract(self) -> dict[str, Any]:
        """Return the conventions that apply; a query without a relevant document has the value 0."""
        return {"queries_without_relevant": 0, **super().contract()}

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return ARP of each query."""
        ranking = ranked.with_absent.ranking
        return per_query(_sum_positions, ranking.boundaries, ranking.labels), None


@dataclass(frozen=True)
class NdcgCost(Metric):
    """NDCGcost = Σ G_i (1 − 1/D_i), G = g/maxDCG.

    In bits, NDCG-Loss1 bounds it, and so does NDCG-Loss2 except for constants of the ranking.

    Source: Wang et al. 2018, equation 14.
    """

    name: ClassVar[str] = "ndcg-cost"
    summary: ClassVar[str] = "Loss of gain compared with all gains at rank 1; lower is better"
    formula: ClassVar[str] = "Σ G_i (1 − 1/D_i)"
    source: ClassVar[str] = "Wang et al. 2018, eq. 14"
    uses: ClassVar[tuple[str, ...]] = ("gain", "discount", "queries_without_relevant")
    takes_cutoff: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return the cost of each query, undefined where no document has a gain."""
        ideal = max_dcg(ranked.ideal, self.conventions)
        return self.costs(ranked.with_absent) / np.where(ideal > 0.0, ideal, 1.0), ideal <= 0.0

    def costs(self, ranked: RankedLabels) -> Float64Array:
        """Return the cost of each query before it is divided by its maxDCG."""
        boundaries = ranked.ranking.boundaries
        lost = 1.0 - weights(self.conventions, boundaries)
        document_gains = ranked.ranking.gains(self.conventions.gain)
        return sum_gains(document_gains, boundaries, lost, finite_cutoff(None))


@dataclass(frozen=True)
class LambdaRankMetric(NdcgCost):
    """Σ G_i Σ_{j < i} |1/D_i − 1/D_j|, i, j ranks; ≥ NDCGcost.

    In bits, LambdaRank's loss bounds it except for constants of the ranking.

    Source: Wang et al. 2018, equation 17.
    """

    name: ClassVar[str] = "lambdarank-metric"
    summary: ClassVar[str] = "Metric that LambdaRank's loss bounds; lower is better"
    formula: ClassVar[str] = "Σ G_i Σ_{j < i} |1/D_i − 1/D_j|"
    source: ClassVar[str] = "Wang et al. 2018, eq. 17"

    def costs(self, ranked: RankedLabels) -> Float64Array:
        """Return the metric of each query before it is divided by its maxDCG."""
        boundaries = ranked.ranking.boundaries
        document_gains = ranked.ranking.gains(self.conventions.gain)
        return per_query(_sum_swaps, boundaries, document_gains, weights(self.conventions, boundaries))
