"""Stored comparisons."""

import json
from types import MappingProxyType
from typing import Any

from sqlalchemy import Text, cast, or_, select
from sqlalchemy.orm import Session

from core.store.repositories import ids
from core.store.repositories.datasets import name_of_dataset
from core.store.repositories.pages import Columns, Direction, Page, Span, begins_with, narrowed, order_of
from core.store.repositories.rows import added_result, found
from core.store.tables import ComparedSystem, Comparison

COLUMNS: Columns = MappingProxyType({"created": None, "dataset": name_of_dataset(Comparison.dataset_id)})


class Comparisons:
    """Comparisons within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, id: str | None = None, **values: Any) -> Comparison:
        """Record a comparison; the values are the columns of its row."""
        comparison = Comparison(id=id or ids.new_id(ids.COMPARISON), **values)
        added_result(self._session, comparison)
        system_ids = (each.get(name) for each in comparison.systems for name in ("model_id", "ranking_id"))
        self._session.add_all(
            ComparedSystem(comparison_id=comparison.id, system_id=system_id)
            for system_id in sorted({each for each in system_ids if each is not None})
        )
        self._session.flush()
        return comparison

    def get(self, id: str) -> Comparison:
        """Return one comparison.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Comparison, "comparison", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        dataset_id: str | None = None,
        project: str | None = None,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Comparison]:
        """List comparisons, newest first by default.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            dataset_id: Only those on its queries.
            project: Only those of this project.
            prefix: Only those of which a system's name or the id begins with it, ignoring case.
            sort: One of `COLUMNS`.
            direction: Sort direction.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Comparison), dataset_id=dataset_id, project=project)
        if prefix is not None:
            # Search the text of the JSON column, which both databases support.
            name = f'"name": {json.dumps(prefix)[:-1]}'
            has_name = cast(Comparison.systems, Text).icontains(name, autoescape=True)
            rows = rows.where(or_(begins_with(prefix, Comparison.id.expression), has_name))
        order = order_of(COLUMNS, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Comparison.id, ids.COMPARISON, order)
