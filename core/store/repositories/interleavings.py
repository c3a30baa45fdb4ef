"""Interleavings, the lists that they showed, and the clicks on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select

from core.errors import NotFound
from core.interleaving.lists import InterleavedList
from core.store.repositories import ids
from core.store.repositories.repository import SimpleRepository, added
from core.store.tables import Interleaving, ShownList


@dataclass(frozen=True)
class ListCounts:
    """Counts of the lists of an interleaving.

    Attributes:
        lists: Lists that were shown.
        clicked: Lists with a click.
    """

    lists: int
    clicked: int


class Interleavings(SimpleRepository[Interleaving]):
    """Interleavings within one transaction."""

    table = Interleaving
    kind = "interleaving"
    id_prefix = ids.INTERLEAVING

    def delete(self, id: str) -> None:
        """Delete an interleaving with its lists.

        Raises:
            NotFound: It does not exist.
        """
        row = self.locked(id)
        self._session.execute(delete(ShownList).where(ShownList.interleaving_id == id))
        self._session.delete(row)
        self._session.flush()

    def assigned(self, id: str, assignment: str) -> ShownList | None:
        """Return the list that a user keeps for a query, or None."""
        rows = select(ShownList).where(ShownList.interleaving_id == id, ShownList.assignment == assignment)
        return self._session.scalar(rows)

    def add_list(
        self, id: str, content: dict[str, Any], *, assignment: str | None, user: str | None
    ) -> ShownList:
        """Add a list; the one that the user keeps for the query, if another request added it meanwhile.

        Raises:
            NotFound: The interleaving does not exist.
        """
        self.locked(id)
        kept = None if assignment is None else self.assigned(id, assignment)
        if kept is not None:
            return kept
        row = ShownList(
            id=ids.new_id(ids.SHOWN_LIST),
            interleaving_id=id,
            content=content,
            assignment=assignment,
            user=user,
        )
        return added(self._session, row)

    def shown_list(self, id: str, list_id: str) -> ShownList:
        """Return a list of an interleaving, locked until the transaction ends.

        Raises:
            NotFound: It does not exist, or is one of another interleaving.
        """
        row = self._session.get(ShownList, list_id, with_for_update=True, populate_existing=True)
        if row is None or row.interleaving_id != id:
            raise NotFound("list", list_id)
        return row

    def record_clicks(self, row: ShownList, places: Sequence[int]) -> int:
        """Add clicked positions to a list and update its credits; return how many are new."""
        before = set(row.clicks or ())
        clicks = sorted(before | set(places))
        if len(clicks) > len(before):
            row.clicks = clicks
            row.credits = InterleavedList.of_json(row.content).credits(clicks)
            self._session.flush()
        return len(clicks) - len(before)

    def counts(self, id: str) -> ListCounts:
        """Count the lists of an interleaving."""
        counts = select(func.count(), func.count(ShownList.credits))
        lists, clicked = self._session.execute(counts.where(ShownList.interleaving_id == id)).one()
        return ListCounts(lists, clicked)

    def credits(self, id: str, until: datetime) -> list[tuple[str | None, list[float]]]:
        """Return users and credits of the lists with a click that were shown until a time, oldest first."""
        rows = select(ShownList.user, ShownList.credits).where(
            ShownList.interleaving_id == id, ShownList.credits.is_not(None), ShownList.created_at <= until
        )
        return [(row.user, row.credits) for row in self._session.execute(rows.order_by(ShownList.id.asc()))]
