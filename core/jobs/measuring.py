"""The job kinds `evaluate`, `compare`, `rank` and `inspect`: measure models and rankings.

Systems are models and uploaded runs, which rank documents.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from core.jobs.base import SubmittedJob
from core.stored import Json, Stored, entry, first_named, read_entries, required, write_entries

if TYPE_CHECKING:
    from core.losses import Loss
    from core.metrics import Conventions


# Entries with the name of a system, in order of preference; jobs of early releases have only the id.
SYSTEM_NAME_ENTRIES = ("system", "model", "model_id", "ranking_id")
# Entries that contain one or several ids or references of stored models and rankings.
_REFERENCE_ENTRIES = frozenset({"model_id", "ranking_id", "model", "models", "init_model", "labels_from"})
_CLICK_LOG_ENTRIES = frozenset({"click_log_id", "log"})
_DATASET_ENTRIES = frozenset({"dataset_id", "test_dataset_id"})
_TEACHER_PREFIX = "model:"


@dataclass(frozen=True)
class System:
    """A stored model or an uploaded run.

    Attributes:
        name: Display name: `web:3`, or the name of the run.
        ranking_id: The stored ranking, or None for a model.
        reference: The reference of the model in the request, `web@champion`, or None.
    """

    # Jobs queued by early releases have only the id of the model.
    name: str = entry(names=("system", "model_id"))
    model_id: str | None = entry(None, omit_default=True)
    ranking_id: str | None = entry(None, omit_default=True)
    reference: str | None = entry(None, names=("model",), omit_default=True)


def named_systems(stored: Any) -> Iterator[str]:
    """Yield the ids and references of models and rankings in a stored specification."""
    return (each.removeprefix(_TEACHER_PREFIX) for each in _texts(stored, _REFERENCE_ENTRIES))


def named_click_logs(stored: Any) -> Iterator[str]:
    """Yield the ids of click logs in a stored specification."""
    return _texts(stored, _CLICK_LOG_ENTRIES)


def named_datasets(stored: Any) -> Iterator[str]:
    """Yield the ids of datasets in a stored specification."""
    return _texts(stored, _DATASET_ENTRIES)


def _texts(stored: Any, names: Collection[str]) -> Iterator[str]:
    """Yield the texts of all entries with the given names, at any depth; an entry may be a list of texts."""
    if isinstance(stored, list):
        for each in stored:
            yield from _texts(each, names)
    elif isinstance(stored, Mapping):
        for name, value in stored.items():
            texts = value if isinstance(value, list) else [value]
            if name in names and all(isinstance(each, str) for each in texts):
                yield from texts
            else:
                yield from _texts(value, names)


def system_names(stored: Stored) -> list[str]:
    """Return the display names of the stored `systems`, without those that have none."""
    names = (first_named(system, SYSTEM_NAME_ENTRIES) for system in stored.get("systems") or ())
    return [name for name in names if name]


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
        cutoff: k of the examined top k.
    """

    loss: "Loss" = entry(read=_loss, write=_loss_json)
    cutoff: int


@dataclass(frozen=True, kw_only=True)
class EvaluateJob(SubmittedJob):
    """Measure a system on a dataset."""

    kind: ClassVar[str] = "evaluate"
    label: ClassVar[str] = "Evaluation"
    titled_by: ClassVar[tuple[str, ...]] = SYSTEM_NAME_ENTRIES

    system: System = entry(write=_system_json, flat=True)
    measures: Measures = entry(flat=True)
    diagnostics: LossDiagnostics | None = None


@dataclass(frozen=True, kw_only=True)
class SystemsJob(SubmittedJob):
    """A job on several models and rankings."""

    systems: tuple[System, ...]

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the names of the systems."""
        return ", ".join(system_names(stored)) or None


@dataclass(frozen=True, kw_only=True)
class CompareJob(SystemsJob):
    """Compare models and rankings on one dataset.

    Attributes:
        systems: The systems; each later one is compared with each earlier one, unless there is a reference.
        permutations: Random assignments of Fisher's randomisation test.
        reference: Position of the system to compare all others with; None for all pairs.
        correction: `holm` over all pairs and metrics, or `none`.
        pool_folds: Whether to rank each query by the fold model that was not trained on the query.
    """

    kind: ClassVar[str] = "compare"
    label: ClassVar[str] = "Comparison"

    measures: Measures = entry(flat=True)
    permutations: int
    reference: int | None = entry(None, omit_default=True)
    correction: str = entry("holm", omit_default=True)
    pool_folds: bool = entry(False, omit_default=True)


@dataclass(frozen=True, kw_only=True)
class RankJob(SubmittedJob):
    """Rank a dataset by a model."""

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
        dataset_id: Dataset that the model scores.
        within: Scope of the permutations, the whole `dataset` or each `query`.
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
