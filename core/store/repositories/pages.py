"""Cursor pagination, newest first by default."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, literal, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import InvalidInput
from core.store.repositories.ids import is_id

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of rows with the next cursor.

    Attributes:
        items: The rows in their order.
        next_cursor: What to pass for the page that follows; None on the last one.
    """

    items: list[T]
    next_cursor: str | None


@dataclass(frozen=True)
class Order:
    """The sort order of a list.

    Attributes:
        by: What decides, and the id among equals; a row that lacks it is left out. None for the id alone.
        ascending: Whether the least comes first.
    """

    by: InstrumentedAttribute[Any] | None = None
    ascending: bool = False


NEWEST_FIRST = Order()


def narrowed(rows: Select[T], **wanted: Any) -> Select[T]:
    """Filter rows by column values, ignoring None."""
    return rows.filter_by(**{column: value for column, value in wanted.items() if value is not None})


@dataclass(frozen=True)
class Span:
    """The requested page of a list.

    Attributes:
        cursor: The last id of the page before, or None for the first page.
        limit: Rows at most, >= 1.
    """

    cursor: str | None
    limit: int

    def take(
        self,
        session: Session,
        rows: Select[T],
        id: InstrumentedAttribute[str],
        prefix: str,
        order: Order = NEWEST_FIRST,
    ) -> Page[T]:
        """Run a selection for the requested page.

        Rows added meanwhile are newer than any cursor, so a walk from the newest neither repeats nor misses
        a row. In any order the walk goes on from the row of the cursor, where that stands by now.

        Raises:
            InvalidInput: The cursor is no id of this list, or the limit is below 1.
        """
        if self.limit < 1:
            raise InvalidInput.at("/limit", "must be at least 1")
        if self.cursor is not None and not is_id(self.cursor, prefix):
            raise InvalidInput.at("/cursor", "must be the next_cursor of the page before")
        place: list[Any] = [id]
        last: list[Any] = [literal(self.cursor)]
        if order.by is not None:
            rows = rows.where(order.by.is_not(None))
            place.insert(0, order.by)
            last.insert(0, select(order.by).where(id == self.cursor).scalar_subquery())
        if self.cursor is not None:
            here, there = tuple_(*place), tuple_(*last)
            rows = rows.where(here > there if order.ascending else here < there)
        rows = rows.order_by(*(column.asc() if order.ascending else column.desc() for column in place))
        found = list(session.scalars(rows.limit(self.limit + 1)))
        items: list[Any] = found[: self.limit]
        return Page(items, items[-1].id if len(found) > self.limit else None)
