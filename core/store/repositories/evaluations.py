"""Stored evaluations."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.jobs import System
from core.store.repositories import ids
from core.store.repositories.pages import Page, Span, narrowed
from core.store.repositories.rows import added, found
from core.store.tables import Evaluation


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
        """Record how a system ranks a dataset."""
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
        return added(self._session, evaluation)

    def get(self, id: str) -> Evaluation:
        """Return one evaluation.

        Raises:
            NotFound: There is none.
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
    ) -> Page[Evaluation]:
        """List evaluations, newest first, on one dataset and of one model or ranking where given.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Evaluation), dataset_id=dataset_id, model_id=model_id, ranking_id=ranking_id)
        return Span(cursor, limit).take(self._session, rows, Evaluation.id, ids.EVALUATION)

    def of_job(self, job_id: str) -> list[Evaluation]:
        """List the evaluations that a job made, oldest first."""
        rows = select(Evaluation).where(Evaluation.job_id == job_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))

    def of_model(self, model_id: str) -> list[Evaluation]:
        """List the evaluations of a model, oldest first."""
        rows = select(Evaluation).where(Evaluation.model_id == model_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))
