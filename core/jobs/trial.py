"""The job kind `trial`: one trial of a study, a training whose model is not stored."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import UnfinishedJob
from core.jobs.folders import checkpoint_folder
from core.jobs.study import StudyJob
from core.stored import Stored


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
