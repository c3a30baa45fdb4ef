"""Reproduce published experiments: plan trainings for a paper's tables, report results, judge claims."""

from core.experiments.paper import Paper, Part, Table
from core.experiments.plan import Plan, Run, plan
from core.experiments.registry import PAPERS, paper, papers
from core.experiments.report import Report, report
from core.experiments.results import RunResult
