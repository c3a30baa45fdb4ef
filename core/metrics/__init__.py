"""Metrics of ranking quality: METRICS lists them by name, parse_metric parses spellings such as `ndcg@10`."""

from core.metrics.base import Metric, measure_all
from core.metrics.conventions import DEFAULT, PRESETS, Conventions, conventions, preset_of
from core.metrics.ranked import Ideal, ideal_labels, order_by_score, rank_labels
from core.metrics.registry import (
    METRICS,
    check_differences,
    largest_difference,
    metric_name,
    parse_metric,
)
from core.metrics.tool_names import ir_measures_spelling, trec_eval_spelling
