"""The job kind `inspect`: compute feature importance and partial dependence of a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.systems import SYSTEM, System
from core.stored import Json, Stored, entry, read_entries, required, write_entries


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


def _measures(stored: Stored) -> Measures:
    return read_entries(Measures, {**stored, "metrics": [required(stored, "metric")]})


def _measures_json(measures: Measures) -> Json:
    written = write_entries(measures)
    (metric,) = written.pop("metrics")
    return {"metric": metric} | written


@dataclass(frozen=True, kw_only=True)
class InspectJob(SubmittedJob):
    """Compute permutation importance and partial dependence.

    Attributes:
        system: The model.
        dataset_id: What it scores.
        measures: How it is measured, by one metric.
        repeats: How often each feature is shuffled.
        within: Whether over the whole `dataset` or within each `query`.
        partial_dependence: What to draw of the scores by single features.
    """

    kind: ClassVar[str] = "inspect"
    label: ClassVar[str] = "Inspection"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM

    system: System = entry(flat=True)
    measures: Measures = entry(read=_measures, write=_measures_json, flat=True)
    repeats: int
    within: Literal["dataset", "query"]
    partial_dependence: PartialDependencePlan

    @property
    def metric(self) -> str:
        """Return the metric that is lost when a feature is shuffled."""
        return self.measures.metrics[0]
