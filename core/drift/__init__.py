"""Drift: whether two samples of queries differ, feature by feature."""

from core.drift.comparison import Column, Comparison, FeatureDrift, QuerySample, Thresholds, compare
from core.drift.stability import population_stability_index

__all__ = [
    "Column",
    "Comparison",
    "FeatureDrift",
    "QuerySample",
    "Thresholds",
    "compare",
    "population_stability_index",
]
