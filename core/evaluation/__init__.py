"""Evaluation of rankings: values by query, summaries, baselines, segments and comparisons."""

from core.evaluation.baselines import Baseline, baseline_findings, baselines, random_order
from core.evaluation.comparison import Comparison, Pair, compare_systems
from core.evaluation.evaluation import (
    Evaluation,
    Judgments,
    evaluate,
    measure,
    rank_documents,
    write_query_values,
)
from core.evaluation.gate import CounterfactualRule, GateDecision, GateRule, decide
from core.evaluation.segments import MIN_QUERIES, Segment, Slice, StoredSegments, slices, write_segments
from core.evaluation.selection import AgainstBest, against_best
from core.evaluation.summary import Summary, summarise_all
