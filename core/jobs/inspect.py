"""The job kind `inspect`: compute feature importance and partial dependence of a model."""

from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.jobs.measures import Measures
from core.jobs.stored import Json, Stored, required
from core.jobs.systems import SYSTEM, System


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

    @classmethod
    def from_json(cls, stored: Stored) -> "PartialDependencePlan":
        """Parse the stored JSON."""
        features = stored.get("features")
        return cls(None if features is None else tuple(features), stored["grid"], stored["sample"])


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

    system: System
    measures: Measures
    repeats: int
    within: Literal["dataset", "query"]
    partial_dependence: PartialDependencePlan

    @classmethod
    def from_json(cls, stored: Stored) -> "InspectJob":
        """Parse the stored JSON."""
        return cls(
            system=System.from_json(stored),
            measures=Measures.from_json({**stored, "metrics": [required(stored, "metric")]}),
            repeats=required(stored, "repeats"),
            within=required(stored, "within"),
            partial_dependence=PartialDependencePlan.from_json(required(stored, "partial_dependence")),
            **cls._shared(stored),
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        measures = self.measures.to_json()
        del measures["metrics"]
        return {
            **self._shared_json(),
            **self.system.to_json(),
            "metric": self.metric,
            **measures,
            "repeats": self.repeats,
            "within": self.within,
            "partial_dependence": asdict(self.partial_dependence),
        }

    @property
    def metric(self) -> str:
        """Return the metric that is lost when a feature is shuffled."""
        return self.measures.metrics[0]
