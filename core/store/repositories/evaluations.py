"""Stored evaluations."""

from collections.abc import Collection
from types import MappingProxyType
from typing import Any

from sqlalchemy import String, func, select
from sqlalchemy.orm import Session

from core.jobs import System
from core.store.repositories import ids
from core.store.repositories.datasets import name_of_dataset
from core.store.repositories.pages import Columns, Direction, Page, Span, begins_with, narrowed, order_of
from core.store.repositories.rows import added_result, found
from core.store.tables import Evaluation

COLUMNS: Columns = MappingProxyType(
    {
        "created": None,
        "system": func.lower(Evaluation.system, type_=String),
        "dataset": name_of_dataset(Evaluation.dataset_id),
    }
)


class Evaluations:
    """Evaluations within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        id: str | None = None,
        *,
        job_id: str,
        system: System,
        dataset_id: str,
        summaries: dict[str, Any],
        contract: dict[str, Any],
        baselines: list[dict[str, Any]],
        slices: list[dict[str, Any]],
        diagnostics: dict[str, Any] | None = None,
        findings: list[dict[str, Any]] | None = None,
    ) -> Evaluation:
        """Record an evaluation of a system on a dataset."""
        evaluation = Evaluation(
            id=id or ids.new_id(ids.EVALUATION),
            job_id=job_id,
            system=system.name,
            model_id=system.model_id,
            ranking_id=system.ranking_id,
            dataset_id=dataset_id,
            summaries=summaries,
            contract=contract,
            baselines=baselines,
            slices=slices,
            diagnostics=diagnostics,
            findings=findings,
        )
        return added_result(self._session, evaluation)

    def get(self, id: str) -> Evaluation:
        """Return one evaluation.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Evaluation, "evaluation", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        dataset_id: str | None = None,
        model_id: str | None = None,
        ranking_id: str | None = None,
        project: str | None = None,
        prefix: str | None = None,
        sort: str = "created",
        metric: str = "",
        direction: Direction | None = None,
    ) -> Page[Evaluation]:
        """List evaluations, newest first by default.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            dataset_id: Only those on its queries.
            model_id: Only those of this model.
            ranking_id: Only those of this ranking.
            project: Only those of this project.
            prefix: Only those whose system or id begins with it, ignoring case.
            sort: One of `COLUMNS`, or `metric`.
            metric: Spelling of the metric whose mean to sort by.
            direction: Sort direction.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(
            select(Evaluation),
            dataset_id=dataset_id,
            model_id=model_id,
            ranking_id=ranking_id,
            project=project,
        )
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Evaluation.system.expression, Evaluation.id.expression))
        columns = {**COLUMNS, "metric": Evaluation.summaries[(metric, "mean")].as_float()}
        order = order_of(columns, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Evaluation.id, ids.EVALUATION, order)

    def summaries_of(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the summaries of some evaluations by id."""
        rows = select(Evaluation.id, Evaluation.summaries).where(Evaluation.id.in_(ids))
        return {row.id: row.summaries for row in self._session.execute(rows)}

    def several(self, ids: Collection[str]) -> list[Evaluation]:
        """List the existing ones of some evaluations, in no order."""
        return list(self._session.scalars(select(Evaluation).where(Evaluation.id.in_(ids))))

    def of_job(self, job_id: str) -> list[Evaluation]:
        """List the evaluations that a job made, oldest first."""
        rows = select(Evaluation).where(Evaluation.job_id == job_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))

    def of_model(self, model_id: str) -> list[Evaluation]:
        """List the evaluations of a model, oldest first."""
        rows = select(Evaluation).where(Evaluation.model_id == model_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))
