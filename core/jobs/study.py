"""The base class of the jobs of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import DatasetJob, Lane


@dataclass(frozen=True, kw_only=True)
class StudyJob(DatasetJob):
    """A job of a study.

    Attributes:
        study_id: The study, whose row has the specification.
        study_name: Name of the study.
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
