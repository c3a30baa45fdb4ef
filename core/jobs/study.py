"""The job kinds `trial` and `conclude`: the trials of a study and its conclusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, JobSpec, Lane, UnfinishedJob
from core.jobs.folders import checkpoint_folder
from core.stored import Stored


@dataclass(frozen=True, kw_only=True)
class StudyJob(DatasetJob):
    """A job of a study.

    Attributes:
        study_id: The study, whose row has the specification.
        metrics: The spelling of the objective, as the only entry.
        test_dataset_id: Another dataset with the held-out queries, or None.
        priority: `low`, `normal` or `high`.
    """

    lane: ClassVar[Lane] = Lane.TRAINING

    study_id: str
    study_name: str
    metrics: tuple[str, ...]
    test_dataset_id: str | None = None
    priority: str = "normal"

    @property
    def metric(self) -> str:
        """Return the spelling of the objective."""
        return self.metrics[0]

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets of the study."""
        test = {"test": self.test_dataset_id} if self.test_dataset_id else {}
        return {**super().dataset_ids, **test}


@dataclass(frozen=True, kw_only=True)
class TrialJob(StudyJob):
    """Sample parameters, train with them and report the objective, without storing a model.

    Attributes:
        number: Number of the trial in its study, from 0.
    """

    kind: ClassVar[str] = "trial"
    label: ClassVar[str] = "Trial"
    main_data: ClassVar[tuple[str, ...]] = ("validation", "test", "train")

    number: int

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the study and the number: `leaves and rate, trial 7`."""
        name = stored.get("study_name")
        return f"{name}, trial {stored.get('number')}" if name else None

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folder of the checkpoints."""
        return [checkpoint_folder(job.id)]


@dataclass(frozen=True, kw_only=True)
class ConcludeJob(StudyJob):
    """Compare the refitted winner of a study with its refitted default on the held-out queries."""

    kind: ClassVar[str] = "conclude"
    label: ClassVar[str] = "Conclusion"
    titled_by: ClassVar[tuple[str, ...]] = ("study_name",)


@dataclass(frozen=True, kw_only=True)
class ReportJob(JobSpec):
    """Write the report of an experiment from its available results.

    Attributes:
        is_last: Whether the experiment ends with this report; otherwise some tables are still incomplete.
    """

    kind: ClassVar[str] = "report"
    label: ClassVar[str] = "Report"
    titled_by: ClassVar[tuple[str, ...]] = ("paper",)

    experiment_id: str
    paper: str
    is_last: bool = False
    complete_tables: int
