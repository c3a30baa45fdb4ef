"""Discounted cumulative gain and its normalised form."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.errors import InvalidInput
from core.jit import compiled
from core.metrics.base import RankedLabels, reach
from core.metrics.ranked import rank_labels
from core.types import Float64Array, FloatArray, Int64Array

_LARGEST_LABEL = 1000.0  # float64 ends at 2^1024, and gains are added up over documents
_CONTRACT = {"gain": "exp2", "discount": "log2", "ties": "stable", "queries_without_relevant": "skip"}


@compiled
def _sum_gains(labels: Float64Array, query_boundaries: Int64Array, cutoff: int) -> Float64Array:
    """DCG of each query from its labels in rank order."""
    sums = np.zeros(len(query_boundaries) - 1)
    for query in range(len(sums)):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > 0.0:
                sums[query] += (2.0 ** labels[row] - 1.0) / np.log2(2.0 + (row - start))
    return sums


def _check_gains(labels: FloatArray) -> None:
    if labels.max(initial=0.0) > _LARGEST_LABEL:
        raise InvalidInput.at(
            "",
            f"the gain 2^y − 1 overflows for labels above {_LARGEST_LABEL:g}; these go up to"
            f" {labels.max():g}."
            " Map the labels to grades, or choose metrics that only ask whether a document is relevant",
        )


@dataclass(frozen=True)
class Dcg:
    """DCG@k = Σ_{r <= k} (2^y − 1) / log2(1 + r), in gain.

    Source: Järvelin and Kekäläinen 2002, with the exponential gain of Burges et al. 2005.
    """

    name: ClassVar[str] = "dcg"
    summary: ClassVar[str] = "Discounted cumulative gain"
    cutoff: int | None = None

    def check_labels(self, labels: FloatArray) -> None:
        """Each label must have a gain."""
        _check_gains(labels)

    def __call__(self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array) -> Float64Array:
        """Return DCG@k of each query."""
        return self.of_ranked(rank_labels(scores, labels, query_boundaries))

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return DCG@k of each query from labels already ranked."""
        _check_gains(ranked.by_label)
        sums: Float64Array = _sum_gains(ranked.by_score, ranked.query_boundaries, reach(self.cutoff))
        return sums

    def contract(self) -> dict[str, Any]:
        """Return the conventions in force."""
        return {**_CONTRACT, "queries_without_relevant": 0}


@dataclass(frozen=True)
class Ndcg:
    """NDCG@k = DCG@k / maxDCG@k, in 0..1; NaN where a query has no relevant document.

    Source: Burges et al. 2006, section 3.

    Example:
        >>> import numpy as np
        >>> Ndcg(1)(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([0, 2])).round(3).tolist()
        [0.333]
    """

    name: ClassVar[str] = "ndcg"
    summary: ClassVar[str] = "DCG over the DCG of the ideal ranking"
    cutoff: int | None = None

    def check_labels(self, labels: FloatArray) -> None:
        """Each label must have a gain."""
        _check_gains(labels)

    def __call__(self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array) -> Float64Array:
        """Return NDCG@k of each query."""
        return self.of_ranked(rank_labels(scores, labels, query_boundaries))

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return NDCG@k of each query from labels already ranked."""
        _check_gains(ranked.by_label)
        reached: Float64Array = _sum_gains(ranked.by_score, ranked.query_boundaries, reach(self.cutoff))
        ideal = _sum_gains(ranked.by_label, ranked.query_boundaries, reach(self.cutoff))
        values: Float64Array = np.divide(reached, ideal, out=np.full_like(reached, np.nan), where=ideal > 0.0)
        return values

    def contract(self) -> dict[str, Any]:
        """Return the conventions in force."""
        return dict(_CONTRACT)
