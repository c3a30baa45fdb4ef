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
from core.drift.statistics import population_stability_index, smallest_p
