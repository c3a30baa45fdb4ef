"""Stored results of jobs: evaluations, rankings, comparisons and inspections."""

import json
from collections.abc import Collection
from types import MappingProxyType
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, String, Text, cast, func, or_, select

from core.jobs import System
from core.store.repositories import ids
from core.store.repositories.datasets import name_of_dataset
from core.store.repositories.pages import Direction, Page, order_of
from core.store.repositories.repository import Repository
from core.store.tables import ComparedSystem, Comparison, Evaluation, Inspection, Job, Ranking

Result = TypeVar("Result", Evaluation, Ranking, Comparison, Inspection)


class ResultRepository(Repository[Result]):
    """Results of one kind within one transaction; they are deleted through the trash."""

    def add(
        self, id: str | None = None, *, job_id: str, system: System | None = None, **values: Any
    ) -> Result:
        """Record a result of a job, in the project of the job.

        Args:
            id: Id under which its artifacts are stored, None for a new one.
            system: The system that was evaluated or ranked, for tables with such columns.
            values: Other columns of the row.
        """
        project = self._session.scalar(select(Job.project).where(Job.id == job_id))
        system_columns = {} if system is None else self._columns_of(system)
        return self._insert(id=id, job_id=job_id, project=project, **system_columns, **values)

    def get_many(self, ids: Collection[str]) -> list[Result]:
        """Return the results with the given ids, in no particular order; ignore ids that do not exist."""
        return list(self._session.scalars(select(self.table).where(self.table.id.in_(ids))))

    def of_job(self, job_id: str) -> list[Result]:
        """List the results that a job made, oldest first."""
        return self._oldest_first(self.table.job_id == job_id)

    def _columns_of(self, system: System) -> dict[str, str | None]:
        return {"system": system.name, "model_id": system.model_id}

    def _oldest_first(self, condition: ColumnElement[bool]) -> list[Result]:
        return list(self._session.scalars(select(self.table).where(condition).order_by(self.table.id)))


class Evaluations(ResultRepository[Evaluation]):
    """Evaluations within one transaction."""

    table = Evaluation
    kind = "evaluation"
    id_prefix = ids.EVALUATION
    columns = MappingProxyType(
        {
            "created": None,
            "system": func.lower(Evaluation.system, type_=String),
            "dataset": name_of_dataset(Evaluation.dataset_id),
        }
    )
    searched = (Evaluation.system.expression,)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
        metric: str = "",
        **wanted: Any,
    ) -> Page[Evaluation]:
        """List evaluations as `Repository.page` does; `sort` may be `metric`, the mean of a given metric."""
        columns = {**self.columns, "metric": Evaluation.summaries[(metric, "mean")].as_float()}
        return self._take(self._select(prefix, **wanted), cursor, limit, order_of(columns, sort, direction))

    def summaries_of(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the summaries of some evaluations by id."""
        rows = select(Evaluation.id, Evaluation.summaries).where(Evaluation.id.in_(ids))
        return {row.id: row.summaries for row in self._session.execute(rows)}

    def of_model(self, model_id: str) -> list[Evaluation]:
        """List the evaluations of a model, oldest first."""
        return self._oldest_first(Evaluation.model_id == model_id)

    def _columns_of(self, system: System) -> dict[str, str | None]:
        return {**super()._columns_of(system), "ranking_id": system.ranking_id}


class Rankings(ResultRepository[Ranking]):
    """Rankings within one transaction."""

    table = Ranking
    kind = "ranking"
    id_prefix = ids.RANKING
    columns = MappingProxyType(
        {
            "created": None,
            "system": func.lower(Ranking.system, type_=String),
            "dataset": name_of_dataset(Ranking.dataset_id),
            "queries": Ranking.queries.expression,
            "documents": Ranking.documents.expression,
        }
    )
    searched = (Ranking.system.expression,)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
        uploaded: bool | None = None,
        **wanted: Any,
    ) -> Page[Ranking]:
        """List rankings as `Repository.page` does; `uploaded` selects uploaded runs or rankings of models."""
        rows = self._select(prefix, **wanted)
        if uploaded is not None:
            rows = rows.where(Ranking.model_id.is_(None) if uploaded else Ranking.model_id.is_not(None))
        return self._take(rows, cursor, limit, order_of(self.columns, sort, direction))


class Comparisons(ResultRepository[Comparison]):
    """Comparisons within one transaction."""

    table = Comparison
    kind = "comparison"
    id_prefix = ids.COMPARISON
    columns = MappingProxyType({"created": None, "dataset": name_of_dataset(Comparison.dataset_id)})

    def add(
        self, id: str | None = None, *, job_id: str, system: System | None = None, **values: Any
    ) -> Comparison:
        """Record a comparison, and index it by its systems."""
        comparison = super().add(id, job_id=job_id, system=system, **values)
        system_ids = (each.get(name) for each in comparison.systems for name in ("model_id", "ranking_id"))
        self._session.add_all(
            ComparedSystem(comparison_id=comparison.id, system_id=system_id)
            for system_id in sorted({each for each in system_ids if each is not None})
        )
        self._session.flush()
        return comparison

    def _begins_with(self, prefix: str) -> ColumnElement[bool]:
        """Return the condition that the id or the name of a compared system begins with a prefix."""
        # Search the text of the JSON column, which both databases support.
        name = f'"name": {json.dumps(prefix)[:-1]}'
        has_name = cast(Comparison.systems, Text).icontains(name, autoescape=True)
        return or_(super()._begins_with(prefix), has_name)


class Inspections(ResultRepository[Inspection]):
    """Inspections within one transaction."""

    table = Inspection
    kind = "inspection"
    id_prefix = ids.INSPECTION
    searched = (Inspection.metric.expression,)
