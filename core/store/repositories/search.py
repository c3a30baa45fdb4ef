"""Search objects of all kinds by id and name."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.jobs import specification_of
from core.store import tables
from core.store.repositories import ids
from core.store.repositories.models import Models


@dataclass(frozen=True)
class Hit:
    """A result of a search.

    Attributes:
        kind: `job`, `model`, `dataset`, `evaluation`, `comparison`, `ranking`, `study`, `experiment`,
            `click-log` or `interleaving`.
        detail: The status of a dataset, click log, study or experiment, the kind and status of a job, the
            rankers of an interleaving; None for other kinds.
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
        """

        def rows(table: Any, prefix: str, name: Any) -> Iterable[Any]:
            matches = or_(_begins(table.id, prefix, text), name.icontains(text, autoescape=True))
            return self._session.scalars(select(table).where(matches).order_by(table.id.desc()).limit(limit))

        jobs = rows(tables.Job, ids.JOB, tables.Job.title)
        datasets = rows(tables.Dataset, ids.DATASET, tables.Dataset.name)
        evaluations = rows(tables.Evaluation, ids.EVALUATION, tables.Evaluation.system)
        comparisons = rows(tables.Comparison, ids.COMPARISON, tables.Comparison.sentence)
        rankings = rows(tables.Ranking, ids.RANKING, tables.Ranking.system)
        studies = rows(tables.Study, ids.STUDY, tables.Study.name)
        experiments = rows(tables.Experiment, ids.EXPERIMENT, tables.Experiment.paper)
        click_logs = rows(tables.ClickLog, ids.CLICK_LOG, tables.ClickLog.name)
        interleavings = rows(tables.Interleaving, ids.INTERLEAVING, tables.Interleaving.name)
        return [
            *(_hit("model", row, row.reference) for row in self._matching_models(text, limit)),
            *(_hit("job", row, row.title or row.id, _kind_and_status(row)) for row in jobs),
            *(_hit("dataset", row, row.name, row.status) for row in datasets),
            *(_hit("evaluation", row, row.system) for row in evaluations),
            *(
                _hit("comparison", row, ", ".join(each["name"] for each in row.systems))
                for row in comparisons
            ),
            *(_hit("ranking", row, row.system) for row in rankings),
            *(_hit("study", row, row.name, row.status) for row in studies),
            *(_hit("experiment", row, row.paper, row.status) for row in experiments),
            *(_hit("click-log", row, row.name, row.status) for row in click_logs),
            *(_hit("interleaving", row, row.name, ", ".join(row.rankers)) for row in interleavings),
        ]

    def _matching_models(self, text: str, limit: int) -> list[tables.Model]:
        models: dict[str, tables.Model] = {}
        with suppress(NotFound):
            model = self._models.resolve(text)
            models[model.id] = model
        by_id = (
            select(tables.Model)
            .where(_begins(tables.Model.id, ids.MODEL, text))
            .order_by(tables.Model.id.desc())
            .limit(limit)
        )
        by_name = self._models.page_of_names(None, limit, containing=text.lower()).items
        for model in (*self._session.scalars(by_id), *by_name):
            models.setdefault(model.id, model)
        return list(models.values())[:limit]


def _begins(id: Any, prefix: str, text: str) -> ColumnElement[bool]:
    """Return the condition that an id begins with a text, with or without its prefix; uses the index."""
    beginning = text.lower() if text.lower().startswith(prefix) else prefix + text.lower()
    last = beginning.ljust(len(prefix) + ids.LENGTH, "z")
    return and_(id >= beginning, id <= last)


def _hit(kind: str, row: Any, name: str, detail: str | None = None) -> Hit:
    return Hit(kind, row.id, name, detail, row.created_at, row.project)


def _kind_and_status(job: tables.Job) -> str:
    return f"{specification_of(job.kind).label}, {job.status}"
