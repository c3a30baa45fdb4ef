"""Reproduce published experiments: plan trainings for a paper's tables, report results, judge claims."""

from core.experiments.judgement import Judgement
from core.experiments.paper import Claim, Entry, Method, Paper, Part, Printed, Protocol, Scale, Sizes, Table
from core.experiments.plan import Cell, Plan, Run, SyntheticData, plan
from core.experiments.registry import PAPERS, paper, papers
from core.experiments.report import Report, ReportCell, ReportTable, report
from core.experiments.results import RunResult
