"""Search objects of all kinds by id and name."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.jobs import specification_of
from core.store.repositories import ids
from core.store.repositories.models import Models
from core.store.tables import (
    ClickLog,
    Comparison,
    Dataset,
    Evaluation,
    Experiment,
    Interleaving,
    Job,
    Model,
    Ranking,
    Study,
)


@dataclass(frozen=True)
class Hit:
    """A result of a search.

    Attributes:
        kind: `job`, `model`, `dataset`, `evaluation`, `comparison`, `ranking`, `study`, `experiment`,
            `click-log` or `interleaving`.
        id: Its id.
        name: Its display name.
        detail: The status of a dataset, click log, study or experiment, the kind and status of a job, the
            rankers of an interleaving; None for other kinds.
        created_at: Time of its creation.
        project: Its project, or None.
    """

    kind: str
    id: str
    name: str
    detail: str | None
    created_at: datetime
    project: str | None


class Search:
    """Searches within one transaction."""

    def __init__(self, session: Session, models: Models) -> None:
        self._session = session
        self._models = models

    def find(self, text: str, limit: int) -> list[Hit]:
        """Find objects whose id begins with a text or whose name contains it, the newest of each kind first.

        Names are compared ignoring case. A comparison is found by its sentence instead of its name. The name
        of a model matches its latest version; a reference such as `web:3` matches any version.

        Args:
            text: At least one character.
            limit: Maximum number of objects of each kind.
        """
        return [
            *(_of_model(model) for model in self._found_models(text, limit)),
            *self._rows(Job, ids.JOB, Job.title, text, limit, _of_job),
            *self._rows(Dataset, ids.DATASET, Dataset.name, text, limit, _of_dataset),
            *self._rows(Evaluation, ids.EVALUATION, Evaluation.system, text, limit, _of_evaluation),
            *self._rows(Comparison, ids.COMPARISON, Comparison.sentence, text, limit, _of_comparison),
            *self._rows(Ranking, ids.RANKING, Ranking.system, text, limit, _of_ranking),
            *self._rows(Study, ids.STUDY, Study.name, text, limit, _of_study),
            *self._rows(Experiment, ids.EXPERIMENT, Experiment.paper, text, limit, _of_experiment),
            *self._rows(ClickLog, ids.CLICK_LOG, ClickLog.name, text, limit, _of_click_log),
            *self._rows(Interleaving, ids.INTERLEAVING, Interleaving.name, text, limit, _of_interleaving),
        ]

    def _found_models(self, text: str, limit: int) -> list[Model]:
        found: dict[str, Model] = {}
        with suppress(NotFound):
            model = self._models.resolve(text)
            found[model.id] = model
        by_id = select(Model).where(_begins(Model.id, ids.MODEL, text)).order_by(Model.id.desc()).limit(limit)
        by_name = self._models.page_of_names(None, limit, containing=text.lower()).items
        for model in (*self._session.scalars(by_id), *by_name):
            found.setdefault(model.id, model)
        return list(found.values())[:limit]

    def _rows(
        self, table: Any, prefix: str, name: Any, text: str, limit: int, hit: Callable[[Any], Hit]
    ) -> Iterable[Hit]:
        matches = or_(_begins(table.id, prefix, text), name.icontains(text, autoescape=True))
        rows = select(table).where(matches).order_by(table.id.desc()).limit(limit)
        return map(hit, self._session.scalars(rows))


def _begins(id: Any, prefix: str, text: str) -> ColumnElement[bool]:
    """Return the condition that an id begins with a text, with or without its prefix; uses the index."""
    beginning = text.lower() if text.lower().startswith(prefix) else prefix + text.lower()
    last = beginning.ljust(len(prefix) + ids.LENGTH, "z")
    return and_(id >= beginning, id <= last)


def _of_model(model: Model) -> Hit:
    return Hit("model", model.id, f"{model.name}:{model.version}", None, model.created_at, model.project)


def _of_job(job: Job) -> Hit:
    return Hit(
        "job",
        job.id,
        job.title or job.id,
        f"{specification_of(job.kind).label}, {job.status}",
        job.created_at,
        job.project,
    )


def _of_dataset(dataset: Dataset) -> Hit:
    return Hit("dataset", dataset.id, dataset.name, dataset.status, dataset.created_at, dataset.project)


def _of_evaluation(evaluation: Evaluation) -> Hit:
    return Hit(
        "evaluation", evaluation.id, evaluation.system, None, evaluation.created_at, evaluation.project
    )


def _of_comparison(comparison: Comparison) -> Hit:
    names = ", ".join(system["name"] for system in comparison.systems)
    return Hit("comparison", comparison.id, names, None, comparison.created_at, comparison.project)


def _of_ranking(ranking: Ranking) -> Hit:
    return Hit("ranking", ranking.id, ranking.system, None, ranking.created_at, ranking.project)


def _of_study(study: Study) -> Hit:
    return Hit("study", study.id, study.name, study.status, study.created_at, study.project)


def _of_experiment(experiment: Experiment) -> Hit:
    return Hit(
        "experiment",
        experiment.id,
        experiment.paper,
        experiment.status,
        experiment.created_at,
        experiment.project,
    )


def _of_click_log(log: ClickLog) -> Hit:
    return Hit("click-log", log.id, log.name, log.status, log.created_at, log.project)


def _of_interleaving(row: Interleaving) -> Hit:
    return Hit("interleaving", row.id, row.name, ", ".join(row.rankers), row.created_at, row.project)
