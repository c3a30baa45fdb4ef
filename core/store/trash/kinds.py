"""The kinds of objects that can be moved to the trash."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, String, cast, func
from sqlalchemy.orm import InstrumentedAttribute

from core.errors import InvalidInput
from core.jobs.base import ACTIVE
from core.jobs.folders import checkpoint_folder, click_log_folder, dataset_upload_folder
from core.store import tables
from core.store.artifacts import keys
from core.store.repositories import ids
from core.store.repositories.experiments import ACTIVE_EXPERIMENTS
from core.store.repositories.study_progress import ACTIVE_STUDIES

JOB, MODEL, EVALUATION = "job", "model", "evaluation"
COMPARISON, RANKING, INSPECTION = "comparison", "ranking", "inspection"
EXPERIMENT, STUDY, DATASET, CLICK_LOG = "experiment", "study", "dataset", "click-log"

KeyOf = Callable[[str], str]


@dataclass(frozen=True)
class Kind:
    """A kind of object that can be deleted.

    Attributes:
        name: Singular, `model`.
        plural: Plural, `models`, as in paths.
        table: Its table, which is `Trashable` and `InProject`.
        label: Column or expression of the display name of an object.
        needs: Columns with the id of a required object, by the kind of that object.
        artifacts: Functions that return the keys of the artifacts of an id.
        folder: Returns the folder of its artifacts; None where it has none.
        active: Statuses in which it cannot be deleted.
        content: Column with the key of an artifact that several objects may share, or None.
    """

    name: str
    plural: str
    prefix: str
    table: Any
    label: ColumnElement[Any]
    needs: Mapping[str, InstrumentedAttribute[Any]]
    artifacts: tuple[KeyOf, ...] = ()
    folder: KeyOf | None = None
    active: Collection[str] = ()
    content: InstrumentedAttribute[str | None] | None = None


def _folder(plural: str) -> KeyOf:
    return lambda object_id: f"{plural}/{object_id}"


# In the order in which rows are deleted: no row refers to a row of an earlier kind.
_KINDS = (
    Kind(
        STUDY,
        "studies",
        ids.STUDY,
        tables.Study,
        tables.Study.name.expression,
        {},
        folder=keys.study_folder,
        active=ACTIVE_STUDIES,
    ),
    Kind(
        EXPERIMENT,
        "experiments",
        ids.EXPERIMENT,
        tables.Experiment,
        tables.Experiment.paper.expression,
        {},
        folder=_folder("experiments"),
        active=ACTIVE_EXPERIMENTS,
    ),
    Kind(
        INSPECTION,
        "inspections",
        ids.INSPECTION,
        tables.Inspection,
        tables.Inspection.metric.expression,
        {JOB: tables.Inspection.job_id, MODEL: tables.Inspection.model_id},
    ),
    Kind(
        COMPARISON,
        "comparisons",
        ids.COMPARISON,
        tables.Comparison,
        tables.Comparison.sentence.expression,
        {JOB: tables.Comparison.job_id},
        (keys.comparison_key, keys.comparison_segments_key),
        _folder("comparisons"),
    ),
    Kind(
        EVALUATION,
        "evaluations",
        ids.EVALUATION,
        tables.Evaluation,
        tables.Evaluation.system.expression,
        {
            JOB: tables.Evaluation.job_id,
            MODEL: tables.Evaluation.model_id,
            RANKING: tables.Evaluation.ranking_id,
        },
        (keys.evaluation_key, keys.evaluation_segments_key),
        _folder("evaluations"),
    ),
    Kind(
        RANKING,
        "rankings",
        ids.RANKING,
        tables.Ranking,
        tables.Ranking.system.expression,
        {JOB: tables.Ranking.job_id, MODEL: tables.Ranking.model_id},
        (keys.ranking_key,),
        _folder("rankings"),
    ),
    Kind(
        MODEL,
        "models",
        ids.MODEL,
        tables.Model,
        tables.Model.name + ":" + cast(tables.Model.version, String),
        {JOB: tables.Model.job_id},
        (keys.model_key, keys.validation_key, keys.folds_key),
        _folder("models"),
    ),
    Kind(
        DATASET,
        "datasets",
        ids.DATASET,
        tables.Dataset,
        tables.Dataset.name.expression,
        {},
        folder=dataset_upload_folder,
        content=tables.Dataset.data_key,
    ),
    Kind(
        CLICK_LOG,
        "click-logs",
        ids.CLICK_LOG,
        tables.ClickLog,
        tables.ClickLog.name.expression,
        {},
        folder=click_log_folder,
    ),
    Kind(
        JOB,
        "jobs",
        ids.JOB,
        tables.Job,
        func.coalesce(tables.Job.title, tables.Job.kind),
        {},
        # The folder of an ended job exists only if the worker died before it removed the checkpoints.
        folder=checkpoint_folder,
        active=ACTIVE,
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _KINDS})
# Objects before their results, so that each is deleted with all of its results.
OWNERS_FIRST = tuple(reversed(_KINDS))
BY_PLURAL: Mapping[str, Kind] = MappingProxyType({kind.plural: kind for kind in _KINDS})


def kind_of(id: str) -> Kind | None:
    """Return the kind of an id, None for ids of objects that cannot be deleted."""
    return next((kind for kind in _KINDS if ids.is_id(id, kind.prefix)), None)


def by_kind(object_ids: Iterable[str]) -> dict[str, list[str]]:
    """Group ids by their kind.

    Raises:
        InvalidInput: An id is of no kind; the pointer is that of the id in the `ids` of a request.
    """
    grouped: dict[str, list[str]] = {}
    for index, object_id in enumerate(object_ids):
        kind = kind_of(object_id)
        if kind is None:
            prefixes = ", ".join(kind.prefix for kind in _KINDS)
            raise InvalidInput.at(f"/ids/{index}", f"must be an id that begins with one of {prefixes}")
        grouped.setdefault(kind.name, []).append(object_id)
    return grouped
