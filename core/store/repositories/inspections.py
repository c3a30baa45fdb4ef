"""Stored inspections."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.store.repositories import ids
from core.store.repositories.pages import Page, Span, begins_with, narrowed
from core.store.repositories.rows import added_result, found
from core.store.tables import Inspection


class Inspections:
    """Inspections within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, **values: Any) -> Inspection:
        """Record an inspection; the values are the columns of its row."""
        inspection = Inspection(**{"id": ids.new_id(ids.INSPECTION), **values})
        return added_result(self._session, inspection)

    def get(self, id: str) -> Inspection:
        """Return one inspection.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Inspection, "inspection", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        model_id: str | None = None,
        dataset_id: str | None = None,
        project: str | None = None,
        prefix: str | None = None,
    ) -> Page[Inspection]:
        """List inspections, newest first.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            model_id: Only those of this model.
            dataset_id: Only those on its queries.
            project: Only those of this project.
            prefix: Only those whose metric or id begins with it, ignoring case.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Inspection), model_id=model_id, dataset_id=dataset_id, project=project)
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Inspection.metric.expression, Inspection.id.expression))
        return Span(cursor, limit).take(self._session, rows, Inspection.id, ids.INSPECTION)
