"""Interleavings, the lists that they showed, and the clicks on them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, String, bindparam, delete, func, select, update

from core.errors import NotFound
from core.interleaving.lists import InterleavedList
from core.store.repositories import ids
from core.store.repositories.repository import SimpleRepository, chunks, insert_absent
from core.store.tables import Interleaving, ShownList

_LISTS = ShownList.__table__.c
_ASSIGNED = select(_LISTS.assignment, _LISTS.id, _LISTS.content).where(
    _LISTS.interleaving_id == bindparam("interleaving"),
    _LISTS.assignment.in_(bindparam("assignments", expanding=True)),
)


@dataclass(frozen=True)
class ListCounts:
    """Counts of the lists of an interleaving.

    Attributes:
        lists: Lists that were shown, including expired ones.
    """

    lists: int
    clicked: int


class Interleavings(SimpleRepository[Interleaving]):
    """Interleavings within one transaction."""

    table = Interleaving
    kind = "interleaving"
    id_prefix = ids.INTERLEAVING
    columns = MappingProxyType(
        {
            "created": None,
            "name": func.lower(Interleaving.name, type_=String),
            "method": Interleaving.method.expression,
        }
    )
    searched = (Interleaving.name.expression,)

    def delete(self, id: str) -> None:
        """Delete an interleaving with its lists."""
        row = self.locked(id)
        self._session.execute(delete(ShownList).where(ShownList.interleaving_id == id))
        self._session.delete(row)
        self._session.flush()

    def add_lists(self, rows: Sequence[Mapping[str, Any]]) -> set[str]:
        """Add lists, given by their columns; return the ids of the added lists.

        Skip lists of interleavings that do not exist, and lists for a user and query that already have one.
        """
        wanted = {row["interleaving_id"] for row in rows}
        existing = select(Interleaving.id).where(Interleaving.id.in_(wanted)).order_by(Interleaving.id)
        ids = set(self._session.scalars(existing.with_for_update(read=True)))
        # A fixed order, so that two transactions with lists for the same users and queries do not deadlock.
        by_user_and_query = sorted(rows, key=lambda row: (row["interleaving_id"], row["assignment"] or ""))
        insertable = [row for row in by_user_and_query if row["interleaving_id"] in ids]
        return {list_id for (list_id,) in insert_absent(self._session, ShownList, insertable, "id")}

    def shown_list(self, id: str, list_id: str) -> ShownList:
        """Return a list of an interleaving, locked until the transaction ends.

        Raises:
            NotFound: The interleaving has no such list.
        """
        row = None
        if ids.may_exist(list_id):
            row = self._session.get(ShownList, list_id, with_for_update=True, populate_existing=True)
        if row is None or row.interleaving_id != id:
            raise NotFound("list", list_id)
        return row

    def record_clicks(self, row: ShownList, positions: Sequence[int]) -> int:
        """Add clicked positions to a list and update its credits; return the number of new ones."""
        before = set(row.clicks or ())
        clicks = sorted(before | set(positions))
        if len(clicks) > len(before):
            row.clicks = clicks
            row.credits = InterleavedList.of_json(row.content).credits(clicks)
            self._session.flush()
        return len(clicks) - len(before)

    def counts(self, id: str) -> ListCounts:
        """Count the lists of an interleaving."""
        counts = select(func.count(), func.count(ShownList.credits))
        lists, clicked = self._session.execute(counts.where(ShownList.interleaving_id == id)).one()
        return ListCounts(lists + self.get(id).expired_lists, clicked)

    def credits(self, id: str, until: datetime) -> list[tuple[str | None, list[float], int]]:
        """Return user, credits and number of clicks of the clicked lists shown until a time, oldest first.

        Releases up to 0.1 deleted the clicks of expired lists; their number is then the largest possible one.
        """
        rows = select(ShownList.user, ShownList.credits, ShownList.clicks).where(
            ShownList.interleaving_id == id, ShownList.credits.is_not(None), ShownList.created_at <= until
        )
        oldest_first = rows.order_by(ShownList.created_at.asc(), ShownList.id.asc())
        longest = self.get(id).length
        return [
            (row.user, row.credits, longest if row.clicks is None else len(row.clicks))
            for row in self._session.execute(oldest_first)
        ]

    def lists(self, id: str, until: datetime) -> Iterator[ShownList]:
        """Yield the lists that were shown until a time and are not expired, in the order of their ids."""
        rows = select(ShownList).where(
            ShownList.interleaving_id == id, ShownList.expired.is_(False), ShownList.created_at <= until
        )
        for chunk in chunks(self._session, rows, ShownList.id):
            yield from chunk

    def comparing(self, *model_ids: str) -> Interleaving | None:
        """Return the newest interleaving that includes all given models, or None."""
        rows = (
            select(Interleaving).where(Interleaving.model_ids.is_not(None)).order_by(Interleaving.id.desc())
        )
        interleavings = (
            row for row in self._session.scalars(rows) if set(model_ids) <= set(row.model_ids or ())
        )
        return next(interleavings, None)

    def expire_lists(self, before: datetime, limit: int) -> int:
        """Expire up to `limit` lists shown before a time; return their number.

        Lists without a click are deleted and counted. Clicked lists keep only their user, clicked positions
        and credits, which the verdict needs.
        """
        unexpired = ShownList.expired.is_(False)
        old = select(ShownList.id, ShownList.interleaving_id).where(ShownList.created_at < before, unexpired)
        candidates = self._session.execute(old.limit(limit)).all()
        # Locked before their lists, as by `delete` and `add_lists`, and in a fixed order: no deadlocks.
        owners = select(Interleaving.id).where(
            Interleaving.id.in_({row.interleaving_id for row in candidates})
        )
        self._session.execute(owners.order_by(Interleaving.id).with_for_update())
        lists = select(ShownList.id, ShownList.interleaving_id, ShownList.credits).where(
            ShownList.id.in_([row.id for row in candidates]), unexpired
        )
        expired = self._session.execute(lists.order_by(ShownList.id).with_for_update()).all()
        unclicked = [row for row in expired if row.credits is None]
        clicked = [row.id for row in expired if row.credits is not None]
        for interleaving_id, number in sorted(Counter(row.interleaving_id for row in unclicked).items()):
            counted = update(Interleaving).where(Interleaving.id == interleaving_id)
            self._session.execute(counted.values(expired_lists=Interleaving.expired_lists + number))
        self._session.execute(delete(ShownList).where(ShownList.id.in_([row.id for row in unclicked])))
        expired_values: dict[str, Any] = {"content": {}, "assignment": None, "expired": True}
        self._session.execute(update(ShownList).where(ShownList.id.in_(clicked)).values(expired_values))
        return len(expired)


def assigned_lists(
    connection: Connection, id: str, assignments: Sequence[str]
) -> dict[str, tuple[str, list[str]]]:
    """Return id and documents of the lists assigned to a user for some queries, by assignment.

    Runs without an ORM session, which would cost several times as much as the statement.

    Args:
        connection: A connection of `Database.connect`.
        assignments: Hashes of the user and each query.
    """
    assigned = connection.execute(_ASSIGNED, {"interleaving": id, "assignments": list(assignments)})
    return {row.assignment: (row.id, row.content["documents"]) for row in assigned}
