"""The jobs of a study: its trials and its conclusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import PRIORITIES, DatasetJob, Lane, UnfinishedJob
from core.jobs.folders import checkpoint_folder
from core.jobs.stored import Json, Stored, required


@dataclass(frozen=True, kw_only=True)
class StudyJob(DatasetJob):
    """A job of a study.

    Attributes:
        study_id: The study, whose row has the specification.
        study_name: Name of the study.
        metric: Spelling of the objective.
        test_dataset_id: Another dataset with the held-out queries, or None.
        priority: `low`, `normal` or `high`.
    """

    lane: ClassVar[Lane] = Lane.TRAINING

    study_id: str
    study_name: str
    metric: str
    test_dataset_id: str | None = None
    priority: str = "normal"

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets of the study."""
        test = {"test": self.test_dataset_id} if self.test_dataset_id else {}
        return {**super().dataset_ids, **test}

    @property
    def queue_priority(self) -> int:
        """Return its place in the queue."""
        return PRIORITIES[self.priority]

    @staticmethod
    def _of_study(stored: Stored) -> Json:
        return {
            "dataset_id": required(stored, "dataset_id"),
            "study_id": required(stored, "study_id"),
            "study_name": required(stored, "study_name"),
            "metric": required(stored, "metrics")[0],
            "test_dataset_id": stored.get("test_dataset_id"),
            "priority": stored.get("priority") or "normal",
        }

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            "kind": self.kind,
            "study_id": self.study_id,
            "study_name": self.study_name,
            "dataset_id": self.dataset_id,
            "test_dataset_id": self.test_dataset_id,
            "metrics": [self.metric],
            "priority": self.priority,
        }


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
    def from_json(cls, stored: Stored) -> "TrialJob":
        """Parse the stored JSON."""
        return cls(number=required(stored, "number"), **cls._of_study(stored))

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return super().to_json() | {"number": self.number}

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the study and the number: `leaves and rate, trial 7`."""
        name = stored.get("study_name")
        return f"{name}, trial {stored.get('number')}" if name else None

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the checkpoints."""
        return [checkpoint_folder(job.id)]


@dataclass(frozen=True, kw_only=True)
class ConcludeJob(StudyJob):
    """Compare the refitted winner of a study with its refitted default on the held-out queries."""

    kind: ClassVar[str] = "conclude"
    label: ClassVar[str] = "Conclusion"
    titled_by: ClassVar[tuple[str, ...]] = ("study_name",)

    @classmethod
    def from_json(cls, stored: Stored) -> "ConcludeJob":
        """Parse the stored JSON."""
        return cls(**cls._of_study(stored))
