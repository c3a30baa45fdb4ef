"""The doctor: what is commonly wrong with judged data, found before a model learns it."""

from core.doctor.comparison import compare
from core.doctor.examination import examine
from core.doctor.report import FeatureProfile, Finding, Report

__all__ = ["FeatureProfile", "Finding", "Report", "compare", "examine"]
