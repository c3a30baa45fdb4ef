"""The job kind `try-candidates`: try candidates of an automatic training on another worker."""

from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import JobLimits, JobSpec, Lane
from core.stored import entry


@dataclass(frozen=True, kw_only=True)
class TryCandidatesJob(JobSpec):
    """Try candidates of an automatic training, parallel to the job of the training.

    Attributes:
        auto_train_id: Id of the job of the automatic training.
        model_name: Name of its model.
        priority: Priority of the automatic training.
        limits: Limits of the automatic training, which apply to each of its helper jobs, or None.
    """

    kind: ClassVar[str] = "try-candidates"
    label: ClassVar[str] = "Candidates"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)
    lane: ClassVar[Lane] = Lane.TRAINING

    auto_train_id: str
    model_name: str
    priority: str = "normal"
    limits: JobLimits | None = entry(None, omit_default=True)
