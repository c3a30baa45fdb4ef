"""Share of judged documents in a ranking."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.ranked import RankedLabels, count_above
from core.ranges import per_query


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
