"""The evaluations on record."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.store import ids
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
        model_id: str,
        dataset_id: str,
        summaries: dict[str, Any],
    ) -> Evaluation:
        """Record what a model scored on a dataset."""
        evaluation = Evaluation(
            id=id or ids.new_id(ids.EVALUATION),
            job_id=job_id,
            model_id=model_id,
            dataset_id=dataset_id,
            summaries=summaries,
        )
        self._session.add(evaluation)
        self._session.flush()
        return evaluation

    def get(self, id: str) -> Evaluation:
        """Return one evaluation.

        Raises:
            NotFound: There is none.
        """
        evaluation = self._session.get(Evaluation, id)
        if evaluation is None:
            raise NotFound("evaluation", id)
        return evaluation

    def of_job(self, job_id: str) -> list[Evaluation]:
        """List the evaluations that a job made, oldest first."""
        rows = select(Evaluation).where(Evaluation.job_id == job_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))

    def of_model(self, model_id: str) -> list[Evaluation]:
        """List the evaluations of a model, oldest first."""
        rows = select(Evaluation).where(Evaluation.model_id == model_id).order_by(Evaluation.id)
        return list(self._session.scalars(rows))
