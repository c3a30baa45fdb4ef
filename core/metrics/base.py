"""The contract that every metric keeps."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from core.types import Float64Array, FloatArray, Int64Array


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """Labels as the scores rank them, made once and read by many metrics.

    Attributes:
        by_score: (n_documents,) labels of each query by descending score, ties in input order.
        by_label: (n_documents,) labels of each query in descending order: the ideal ranking.
        query_boundaries: (n_queries + 1,) offsets.
    """

    by_score: Float64Array
    by_label: Float64Array
    query_boundaries: Int64Array


class Metric(Protocol):
    """A measure of ranking quality; a frozen dataclass whose fields are its contract.

    `cutoff` k is the number of top ranks that count, all when None; a query shorter than k is measured
    as it is. Documents with equal scores are ranked in input order. A query on which the metric is
    undefined (no relevant document) yields NaN and is skipped by means.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __init__(self, cutoff: int | None = None) -> None: ...

    @property
    def cutoff(self) -> int | None:
        """Number of top ranks that count."""
        ...

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels >= 0 that the metric cannot measure.

        Raises:
            InvalidInput: When the measure would overflow.
        """
        ...

    def __call__(self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array) -> Float64Array:
        """Return the metric of each query, (n_queries,), NaN where it is undefined."""
        ...

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return the metric of each query from labels already ranked."""
        ...

    def contract(self) -> dict[str, Any]:
        """Return the conventions that make the number comparable, to be stored beside it."""
        ...


def reach(cutoff: int | None) -> int:
    """Return the number of top ranks that count, a number beyond any list when there is no cutoff."""
    return int(np.iinfo(np.int32).max) if cutoff is None else cutoff
