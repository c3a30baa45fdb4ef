"""Stored comparisons."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.store.repositories import ids
from core.store.repositories.pages import Page, Span
from core.store.repositories.rows import added, found
from core.store.tables import Comparison


class Comparisons:
    """Comparisons within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, id: str | None = None, **values: Any) -> Comparison:
        """Record a comparison; the values are the columns of its row."""
        comparison = Comparison(id=id or ids.new_id(ids.COMPARISON), **values)
        return added(self._session, comparison)

    def get(self, id: str) -> Comparison:
        """Return one comparison.

        Raises:
            NotFound: There is none.
        """
        return found(self._session, Comparison, "comparison", id)

    def page(self, cursor: str | None, limit: int) -> Page[Comparison]:
        """List comparisons, newest first.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        return Span(cursor, limit).take(self._session, select(Comparison), Comparison.id, ids.COMPARISON)
