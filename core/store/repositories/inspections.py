"""Stored inspections."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.store.repositories import ids
from core.store.repositories.pages import Page, Span
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
            NotFound: There is none.
        """
        return found(self._session, Inspection, "inspection", id)

    def page_of_model(self, model_id: str, cursor: str | None, limit: int) -> Page[Inspection]:
        """List the inspections of a model, newest first.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = select(Inspection).where(Inspection.model_id == model_id)
        return Span(cursor, limit).take(self._session, rows, Inspection.id, ids.INSPECTION)
