"""Measures of ranking quality: METRICS names them, parse_metric builds one from `ndcg@10`."""

from core.metrics.base import Metric
from core.metrics.conventions import DEFAULT, PRESETS, Conventions, conventions, preset_of
from core.metrics.ranked import (
    Ideal,
    RankedLabels,
    SortedLabels,
    ideal_labels,
    order_by_score,
    rank_labels,
)
from core.metrics.registry import METRICS, parse_metric

__all__ = [
    "DEFAULT",
    "METRICS",
    "PRESETS",
    "Conventions",
    "Ideal",
    "Metric",
    "RankedLabels",
    "SortedLabels",
    "conventions",
    "ideal_labels",
    "order_by_score",
    "parse_metric",
    "preset_of",
    "rank_labels",
]
