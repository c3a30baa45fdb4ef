"""The job kind `counterfactual`: estimate a metric of rankings from a click log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from core.jobs.base import SubmittedJob
from core.jobs.systems import System, system_names
from core.stored import Stored


@dataclass(frozen=True, kw_only=True)
class CounterfactualJob(SubmittedJob):
    """Estimate a metric of models and rankings from the clicks on other rankings.

    Attributes:
        dataset_id: The dataset with the documents that the systems rank.
        click_log_id: The click log.
        systems: The systems.
        metric: Spelling of the metric, a sum over clicks.
        estimator: Name of the estimator.
        normalised: Whether to divide the estimate by the mean weight.
        clip: Largest weight, or None.
        examination: Probability of examination of each rank from 1; None except for the estimator
            `examination`.
        seed: Seed of the bootstrap.
    """

    kind: ClassVar[str] = "counterfactual"
    label: ClassVar[str] = "Counterfactual evaluation"

    click_log_id: str
    systems: tuple[System, ...]
    metric: str
    estimator: str
    normalised: bool
    clip: float | None = None
    examination: tuple[float, ...] | None = None
    seed: int

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click log that the job reads."""
        return {"log": self.click_log_id}

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(system_names(stored)) or None
