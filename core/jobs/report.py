"""The job kind `report`: write the report of an experiment."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import JobSpec
from core.jobs.stored import Json, Stored, required


@dataclass(frozen=True, kw_only=True)
class ReportJob(JobSpec):
    """Write the report of an experiment from its available results.

    Attributes:
        experiment_id: The experiment.
        paper: Name of its paper.
        is_last: Whether the experiment ends with it; otherwise some tables are still incomplete.
        complete_tables: Number of its complete tables.
    """

    kind: ClassVar[str] = "report"
    label: ClassVar[str] = "Report"
    titled_by: ClassVar[tuple[str, ...]] = ("paper",)

    experiment_id: str
    paper: str
    is_last: bool
    complete_tables: int

    @classmethod
    def from_json(cls, stored: Stored) -> "ReportJob":
        """Parse the stored JSON."""
        return cls(
            experiment_id=required(stored, "experiment_id"),
            paper=required(stored, "paper"),
            is_last=bool(stored.get("is_last")),
            complete_tables=required(stored, "complete_tables"),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            "kind": self.kind,
            "experiment_id": self.experiment_id,
            "paper": self.paper,
            "is_last": self.is_last,
            "complete_tables": self.complete_tables,
        }
