"""The job kinds `evaluate`, `compare`, `rank` and `inspect`: measure models and rankings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.jobs.systems import SYSTEM_NAME_ENTRIES, System, system_names
from core.stored import Json, Stored, entry, read_entries, required, write_entries

if TYPE_CHECKING:
    from core.losses import Loss
    from core.metrics import Conventions


def _conventions(stored: Any = None) -> "Conventions":
    # The metrics are imported only when a specification is parsed: lists of jobs and administration do not
    # need them, and Numba takes a second to load.
    from core.metrics import conventions

    return conventions(stored)


@dataclass(frozen=True)
class Measures:
    """Metrics of a job with their options.

    Attributes:
        metrics: Spellings of the metrics, `ndcg@10`; the first one decides a comparison.
        contract: The conventions of the metrics; `contract` is their name in JSON and on the command line.
        label_map: The requested replacements of labels.
        seed: Seed of every random choice.
    """

    metrics: tuple[str, ...] = ()
    contract: "Conventions" = entry(
        default_factory=_conventions, read=_conventions, write=methodcaller("to_json")
    )
    label_map: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0


def read_single_metric(stored: Stored) -> Measures:
    """Read measures with the entry `metric` in place of `metrics`."""
    return read_entries(Measures, {**stored, "metrics": [required(stored, "metric")]})


def write_single_metric(measures: Measures) -> Json:
    """Return the JSON of measures with one metric, as `metric`; `read_single_metric` reads it back."""
    written = write_entries(measures)
    (metric,) = written.pop("metrics")
    return {"metric": metric} | written


def _loss(stored: Stored) -> "Loss":
    from core.losses import stored_loss

    return stored_loss(**stored)


def _loss_json(loss: "Loss") -> Json:
    from core.losses import loss_values

    return loss_values(loss)


def _system_json(system: System) -> Json:
    return {"model": None, "ranking_id": None} | write_entries(system)


@dataclass(frozen=True, kw_only=True)
class LossDiagnostics:
    """Diagnostics of a loss at the scores of the model.

    Attributes:
        loss: The loss.
        cutoff: k of the examined top k.
    """

    loss: "Loss" = entry(read=_loss, write=_loss_json)
    cutoff: int


@dataclass(frozen=True, kw_only=True)
class EvaluateJob(SubmittedJob):
    """Measure a system on a dataset.

    Attributes:
        system: The system.
        dataset_id: The dataset.
        measures: Metrics and their options.
        diagnostics: Diagnostics of a loss, or None.
    """

    kind: ClassVar[str] = "evaluate"
    label: ClassVar[str] = "Evaluation"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(write=_system_json, flat=True)
    measures: Measures = entry(flat=True)
    diagnostics: LossDiagnostics | None = None


@dataclass(frozen=True, kw_only=True)
class CompareJob(SubmittedJob):
    """Compare models and rankings on one dataset.

    Attributes:
        systems: The systems; each later one is compared with each earlier one, unless there is a reference.
        dataset_id: The dataset.
        measures: Metrics and their options.
        permutations: Random assignments of Fisher's randomisation test.
        reference: Position of the system to compare all others with; None for all pairs.
        correction: `holm` over all pairs and metrics, or `none`.
        pool_folds: Whether to rank each query by the fold model that was not trained on the query.
    """

    kind: ClassVar[str] = "compare"
    label: ClassVar[str] = "Comparison"

    systems: tuple[System, ...]
    measures: Measures = entry(flat=True)
    permutations: int
    reference: int | None = entry(None, omit_default=True)
    correction: str = entry("holm", omit_default=True)
    pool_folds: bool = entry(False, omit_default=True)

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(system_names(stored)) or None


@dataclass(frozen=True, kw_only=True)
class RankJob(SubmittedJob):
    """Rank a dataset by a model.

    Attributes:
        system: The model.
        dataset_id: The dataset.
    """

    kind: ClassVar[str] = "rank"
    label: ClassVar[str] = "Ranking"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(flat=True)


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
