"""Drift detection between two samples of queries, feature by feature."""

from core.drift.comparison import (
    MIN_QUERIES,
    Column,
    ColumnDrift,
    Comparison,
    QuerySample,
    Thresholds,
    Verdict,
    compare,
)
from core.drift.permutation import smallest_p
from core.drift.stability import population_stability_index

__all__ = [
    "MIN_QUERIES",
    "Column",
    "ColumnDrift",
    "Comparison",
    "QuerySample",
    "Thresholds",
    "Verdict",
    "compare",
    "population_stability_index",
    "smallest_p",
]
