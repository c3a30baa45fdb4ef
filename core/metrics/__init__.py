"""Measures of ranking quality: METRICS names them, parse_metric builds one from `ndcg@10`."""

from core.metrics.base import Metric, RankedLabels
from core.metrics.binary import AveragePrecision, Precision, Recall, ReciprocalRank
from core.metrics.dcg import Dcg, Ndcg
from core.metrics.ranked import ideal_labels, order_by_score, rank_labels
from core.metrics.registry import METRICS, parse_metric

__all__ = [
    "METRICS",
    "AveragePrecision",
    "Dcg",
    "Metric",
    "Ndcg",
    "Precision",
    "RankedLabels",
    "Recall",
    "ReciprocalRank",
    "ideal_labels",
    "order_by_score",
    "parse_metric",
    "rank_labels",
]
