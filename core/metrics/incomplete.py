"""Binary metrics for incomplete judgments: they tell unjudged documents from non-relevant ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import prange

from core.jit import parallel
from core.metrics.binary import BinaryMetric
from core.metrics.ranked import RankedLabels
from core.types import Float64Array, Int64Array

JUDGED_ABOVE = -1e-300  # labels below 0 are trec_eval's "in the pool, but not judged"


@parallel
def _count_preferences(
    labels: Float64Array, query_boundaries: Int64Array, threshold: float, relevant: Float64Array
) -> tuple[Int64Array, Int64Array]:
    """Count each query's retrieved relevant documents, and the non-relevant ones above each of them."""
    n_queries = len(query_boundaries) - 1
    found, above_found = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    for query in prange(n_queries):
        most, above = np.int64(relevant[query]), 0
        for row in range(query_boundaries[query], query_boundaries[query + 1]):
            if labels[row] > threshold:
                found[query] += 1
                above_found[query] += min(above, most)
            elif labels[row] >= 0.0:
                above += 1
    return found, above_found


@dataclass(frozen=True)
class Bpref(BinaryMetric):
    """bpref: how seldom judged non-relevant documents stand above relevant ones.

    bpref = (1/R) Σ_{retrieved relevant} 1 − min(n, R) / min(R, N), n the judged non-relevant documents
    above, N all of them; unjudged ones do not count.

    Source: Buckley and Voorhees 2004, as trec_eval computes it.
    """

    name: ClassVar[str] = "bpref"
    summary: ClassVar[str] = "Preference of relevant over judged non-relevant documents"
    formula: ClassVar[str] = "(1/R) Σ_{relevant} 1 − min(n_above, R) / min(R, N)"
    source: ClassVar[str] = "Buckley and Voorhees 2004, as trec_eval computes it"
    takes_cutoff: ClassVar[bool] = False

    def values(self, ranked: RankedLabels, relevant: Float64Array) -> Float64Array:
        """Return bpref of each query."""
        found, above_found = _count_preferences(
            ranked.ranking.labels, ranked.ranking.boundaries, self.conventions.relevance_threshold, relevant
        )
        judged = ranked.ideal.count_above(JUDGED_ABOVE)
        # Without a non-relevant document nothing is above, whatever it is divided by.
        bound = np.maximum(np.minimum(relevant, judged - relevant), 1.0)
        # Whole numbers until the last step, so that preferences that cancel are exactly 0.
        return np.asarray((found * bound - above_found) / (bound * relevant))
