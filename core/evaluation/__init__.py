"""Evaluation: per-query metrics, their means with intervals, and ranked documents."""

from core.evaluation.evaluation import Evaluation, evaluate, rank_documents
from core.evaluation.summary import Summary, summarise

__all__ = ["Evaluation", "Summary", "evaluate", "rank_documents", "summarise"]
