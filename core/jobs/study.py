"""The base class of the jobs of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import PRIORITIES, DatasetJob, Lane
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
        """Return its priority in the queue."""
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
