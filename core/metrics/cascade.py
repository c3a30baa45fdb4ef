"""Expected reciprocal rank: users scan the list from the top until a document satisfies them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.jit import compiled
from core.metrics.base import Measured, Metric, finite_cutoff
from core.metrics.dcg import max_dcg
from core.metrics.ranked import RankedLabels, label_gains
from core.ranges import per_query
from core.types import Float64Array, Int64Array


@compiled
def _sum_stops(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    gains: Float64Array,
    gain_divisor: float,
    cutoff: int,
    sums: Float64Array,
) -> None:
    """Sum 1/rank times the probability that the user stops at the rank."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        total, continuation = 0.0, 1.0
        for row in range(start, min(stop, start + cutoff)):
            satisfaction = gains[row] / gain_divisor
            total += continuation * satisfaction / (row - start + 1.0)
            continuation *= 1.0 - satisfaction
        sums[query] = total


@dataclass(frozen=True)
class ExpectedReciprocalRank(Metric):
    """ERR@k = Σ_{r <= k} (1/r) R_r Π_{q < r} (1 − R_q), R = g(y) / (1 + g(max_label)).

    Source: Chapelle et al. 2009, equations 4 and 5.
    """

    name: ClassVar[str] = "err"
    summary: ClassVar[str] = "Expected reciprocal rank of the first document that satisfies the user"
    formula: ClassVar[str] = "Σ_{r ≤ k} (1/r) R_r Π_{q < r} (1 − R_q), R = g(y) / (1 + g(max_label))"
    source: ClassVar[str] = "Chapelle et al. 2009, eq. 4 and 5"
    uses: ClassVar[tuple[str, ...]] = ("gain", "max_label", "queries_without_relevant")

    def measure(self, ranked: RankedLabels) -> Measured:
        """Return ERR@k of each query.

        Raises:
            InvalidInput: A label is above the conventions' `max_label`.
        """
        conventions = self.conventions
        self.check_labels(ranked.ideal.largest)
        largest = float(label_gains(conventions.gain, np.array([float(conventions.max_label)]))[0])
        document_gains = ranked.ranking.gains(conventions.gain)
        sums = per_query(
            _sum_stops, ranked.ranking.boundaries, document_gains, 1.0 + largest, finite_cutoff(self.cutoff)
        )
        return sums, max_dcg(ranked.ideal, conventions, 1) == 0.0
