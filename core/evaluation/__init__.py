"""How good a ranking is: values a query, summaries, baselines, slices, and which of two is better."""

from core.evaluation.baselines import Baseline, baselines, random_order
from core.evaluation.comparison import Comparison, Pair, compare_systems
from core.evaluation.evaluation import Evaluation, Judgments, evaluate, measure, rank_documents
from core.evaluation.gate import GateDecision, GateRule, decide
from core.evaluation.slices import Slice, slices
from core.evaluation.summary import Summary, summarise, summarise_all

__all__ = [
    "Baseline",
    "Comparison",
    "Evaluation",
    "GateDecision",
    "GateRule",
    "Judgments",
    "Pair",
    "Slice",
    "Summary",
    "baselines",
    "compare_systems",
    "decide",
    "evaluate",
    "measure",
    "random_order",
    "rank_documents",
    "slices",
    "summarise",
    "summarise_all",
]
