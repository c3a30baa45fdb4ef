"""The job kind `inspect`: compute feature importance and partial dependence of a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures, read_single_metric, write_single_metric
from core.jobs.systems import SYSTEM_NAME_ENTRIES, System
from core.stored import entry


@dataclass(frozen=True)
class PartialDependencePlan:
    """Features and sample of partial dependence.

    Attributes:
        features: Names of features, or None for the most important features.
        grid: Number of values of each feature, which are its quantiles.
        sample: Number of documents in the mean.
    """

    features: tuple[str, ...] | None
    grid: int
    sample: int


@dataclass(frozen=True, kw_only=True)
class InspectJob(SubmittedJob):
    """Compute permutation importance and partial dependence.

    Attributes:
        system: The model.
        dataset_id: Dataset that the model scores.
        measures: The metric and its options.
        repeats: Number of permutations of each feature.
        within: Scope of the permutations, the whole `dataset` or each `query`.
        partial_dependence: Partial dependence of the scores on single features.
    """

    kind: ClassVar[str] = "inspect"
    label: ClassVar[str] = "Inspection"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(flat=True)
    measures: Measures = entry(read=read_single_metric, write=write_single_metric, flat=True)
    repeats: int
    within: Literal["dataset", "query"]
    partial_dependence: PartialDependencePlan

    @property
    def metric(self) -> str:
        """Return the metric whose decrease is the importance of a feature."""
        return self.measures.metrics[0]
