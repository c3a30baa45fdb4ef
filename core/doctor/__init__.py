"""The doctor: find common problems of judged data before a training."""

from core.doctor.agreement import compare
from core.doctor.examination import examine
from core.doctor.report import FeatureProfile, Finding, Report, by_severity
