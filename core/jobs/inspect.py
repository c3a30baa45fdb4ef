"""The job kind `inspect`: compute feature importance and partial dependence of a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures, json_of_one, measures_of_one
from core.jobs.systems import SYSTEM, System
from core.stored import entry


@dataclass(frozen=True)
class PartialDependencePlan:
    """Features and sample of partial dependence.

    Attributes:
        features: Names, or None for the most important ones.
        grid: Values of each feature, its quantiles.
        sample: Documents that the mean is taken over.
    """

    features: tuple[str, ...] | None
    grid: int
    sample: int


@dataclass(frozen=True, kw_only=True)
class InspectJob(SubmittedJob):
    """Compute permutation importance and partial dependence.

    Attributes:
        system: The model.
        dataset_id: Dataset that it scores.
        measures: The metric and its options.
        repeats: Number of permutations of each feature.
        within: Scope of the permutations, the whole `dataset` or each `query`.
        partial_dependence: Partial dependence of the scores on single features.
    """

    kind: ClassVar[str] = "inspect"
    label: ClassVar[str] = "Inspection"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    system: System = entry(flat=True)
    measures: Measures = entry(read=measures_of_one, write=json_of_one, flat=True)
    repeats: int
    within: Literal["dataset", "query"]
    partial_dependence: PartialDependencePlan

    @property
    def metric(self) -> str:
        """Return the metric whose decrease is the importance of a feature."""
        return self.measures.metrics[0]
