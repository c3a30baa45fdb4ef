"""The job kind `judge`: make judgments of a click log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from core.clicks.judgment_options import JudgmentSpec
from core.clicks.models.specification import ClickModelSpec
from core.jobs.base import ClickLogJob, Lane, UnfinishedJob
from core.jobs.click_models import model_options, options_at
from core.jobs.folders import claims_folders
from core.parameters import values_of
from core.stored import entry

judgment_options = options_at("/judgments", JudgmentSpec)


@dataclass(frozen=True, kw_only=True)
class JudgeJob(ClickLogJob):
    """Make a dataset of the grades that a click model gives, joined with features.

    Attributes:
        dataset_id: The dataset that the job makes.
        name: Name of this dataset.
        features_dataset_id: Dataset with the features.
        judged_dataset_id: Judged dataset to compare the grades with, or None.
        options: The click model and its options.
        judgments: Options of the grades.
        unjudged: Whether to drop documents without a grade, or to label them 0.
    """

    kind: ClassVar[str] = "judge"
    label: ClassVar[str] = "Judgments"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)
    lane: ClassVar[Lane] = Lane.TRAINING
    makes_dataset: ClassVar[bool] = True

    dataset_id: str
    name: str
    features_dataset_id: str
    judged_dataset_id: str | None = None
    options: ClickModelSpec = entry(read=model_options, write=values_of)
    judgments: JudgmentSpec = entry(read=judgment_options, write=values_of)
    unjudged: Literal["drop", "zero"] = "drop"

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job reads and makes."""
        judged = {"judged": self.judged_dataset_id} if self.judged_dataset_id else {}
        return {"data": self.dataset_id, "features": self.features_dataset_id, **judged}

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the outputs of each claim."""
        return claims_folders(job.id, job.token)
