"""The job kind `report`: write the report of an experiment."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import JobSpec


@dataclass(frozen=True, kw_only=True)
class ReportJob(JobSpec):
    """Write the report of an experiment from its available results.

    Attributes:
        experiment_id: The experiment.
        paper: Name of its paper.
        is_last: Whether the experiment ends with this report; otherwise some tables are still incomplete.
        complete_tables: Number of complete tables in the report.
    """

    kind: ClassVar[str] = "report"
    label: ClassVar[str] = "Report"
    titled_by: ClassVar[tuple[str, ...]] = ("paper",)

    experiment_id: str
    paper: str
    is_last: bool = False
    complete_tables: int
