"""Stored rankings."""

from types import MappingProxyType
from typing import Any

from sqlalchemy import String, func, select
from sqlalchemy.orm import Session

from core.jobs import System
from core.store.repositories import ids
from core.store.repositories.datasets import name_of_dataset
from core.store.repositories.pages import Columns, Direction, Page, Span, begins_with, narrowed, order_of
from core.store.repositories.rows import added_result, found
from core.store.tables import Ranking

COLUMNS: Columns = MappingProxyType(
    {
        "created": None,
        "system": func.lower(Ranking.system, type_=String),
        "dataset": name_of_dataset(Ranking.dataset_id),
        "queries": Ranking.queries.expression,
        "documents": Ranking.documents.expression,
    }
)


class Rankings:
    """Rankings within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        id: str | None = None,
        *,
        job_id: str,
        system: System,
        dataset_id: str,
        queries: int,
        documents: int,
        findings: list[dict[str, Any]] | None = None,
    ) -> Ranking:
        """Record a ranking of a dataset's documents by a system."""
        ranking = Ranking(
            id=id or ids.new_id(ids.RANKING),
            job_id=job_id,
            system=system.name,
            model_id=system.model_id,
            dataset_id=dataset_id,
            queries=queries,
            documents=documents,
            findings=findings,
        )
        return added_result(self._session, ranking)

    def get(self, id: str) -> Ranking:
        """Return one ranking.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Ranking, "ranking", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        dataset_id: str | None = None,
        uploaded: bool | None = None,
        project: str | None = None,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Ranking]:
        """List rankings, newest first by default.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            dataset_id: Only those on its queries.
            uploaded: Only uploaded runs, or only the rankings of models.
            project: Only those of this project.
            prefix: Only those whose system or id begins with it, ignoring case.
            sort: One of `COLUMNS`.
            direction: Sort direction.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Ranking), dataset_id=dataset_id, project=project)
        if uploaded is not None:
            rows = rows.where(Ranking.model_id.is_(None) if uploaded else Ranking.model_id.is_not(None))
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Ranking.system.expression, Ranking.id.expression))
        order = order_of(COLUMNS, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Ranking.id, ids.RANKING, order)

    def of_job(self, job_id: str) -> list[Ranking]:
        """List the rankings that a job made, oldest first."""
        return list(
            self._session.scalars(select(Ranking).where(Ranking.job_id == job_id).order_by(Ranking.id))
        )
