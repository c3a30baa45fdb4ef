"""Cursor pagination, newest first by default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from sqlalchemy import ColumnElement, Select, String, literal, or_, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import InvalidInput
from core.store.repositories.ids import is_id
from core.store.visibility import NO_PROJECT, with_trash

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of rows with the next cursor.

    Attributes:
        next_cursor: Cursor of the next page; None on the last one.
    """

    items: list[T]
    next_cursor: str | None


@dataclass(frozen=True)
class Order:
    """The sort order of a list.

    Attributes:
        by: Sort key, before the id; rows without a value come last. None for the id alone.
        ascending: Whether the smallest value comes first.
    """

    by: ColumnElement[Any] | None = None
    ascending: bool = False


Columns = Mapping[str, ColumnElement[Any] | None]
# Names of tags with their required value, None for any value.
WantedTags = Sequence[tuple[str, str | None]]
Direction = Literal["asc", "desc"]

NEWEST_FIRST = Order()


def order_of(columns: Columns, sort: str, direction: Direction | None) -> Order:
    """Return the order of a list by one of its columns.

    Args:
        columns: Sort keys by name; None for the time of creation, which is the order of ids.
        direction: None for the default: texts ascend, numbers and times descend.
    """
    by = columns[sort]
    is_text = by is not None and isinstance(by.type, String)
    return Order(by, ascending=is_text if direction is None else direction == "asc")


def begins_with(prefix: str, *columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that at least one of the columns begins with a prefix, ignoring case."""
    return or_(*(column.istartswith(prefix, autoescape=True) for column in columns))


def filter_by_values(rows: Select[T], **wanted: Any) -> Select[T]:
    """Filter rows by column values, ignoring None; the project `NO_PROJECT` selects rows without one."""
    values = {column: value for column, value in wanted.items() if value is not None}
    if values.get("project") == NO_PROJECT:
        values["project"] = None
    return rows.filter_by(**values)


def with_tags(
    rows: Select[T], column: InstrumentedAttribute[dict[str, str] | None], wanted: WantedTags
) -> Select[T]:
    """Filter rows by tags, which must all match."""
    for tag, value in wanted:
        stored_value = column[tag].as_string()
        rows = rows.where(stored_value.is_not(None) if value is None else stored_value == value)
    return rows


@dataclass(frozen=True)
class PageRequest:
    """The requested page of a list.

    Attributes:
        cursor: The last id of the previous page, or None for the first page.
        limit: Maximum number of rows, >= 1.
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

        Rows added between two pages are newer than any cursor, so reading all pages from the newest neither
        repeats nor misses a row. In other orders, the page begins after the current position of the
        row that the cursor identifies.

        Raises:
            InvalidInput: The cursor is not an id of this list, or refers to a purged row whose sort key is
                needed; or the limit is below 1.
        """
        if self.limit < 1:
            raise InvalidInput.at("/limit", "must be at least 1")
        if self.cursor is not None and not is_id(self.cursor, prefix):
            raise InvalidInput.at("/cursor", "must be the next_cursor of the previous page")
        if order.by is None:
            page_rows = self._after_cursor(rows, [id], [literal(self.cursor)], order, self.limit + 1)
            page_and_next = list(session.scalars(page_rows))
        else:
            # Select ids first: sorting whole rows would read their JSON columns.
            page = self._sorted_ids(session, rows, id, order.by, order)
            whole = {row.id: row for row in session.scalars(rows.where(id.in_(page)))}  # type: ignore[attr-defined]
            page_and_next = [whole[each] for each in page]
        items: list[Any] = page_and_next[: self.limit]
        return Page(items, items[-1].id if len(page_and_next) > self.limit else None)

    def _sorted_ids(
        self,
        session: Session,
        rows: Select[T],
        id: InstrumentedAttribute[str],
        by: ColumnElement[Any],
        order: Order,
    ) -> list[str]:
        """Return the ids of a page and of the next row; rows without a value come last."""
        wanted, only_ids = self.limit + 1, rows.with_only_columns(id)
        last: Any = None
        if self.cursor is not None:
            with with_trash(session):  # the row may have been deleted since the previous page
                row = session.execute(select(by).where(id == self.cursor)).one_or_none()
            if row is None:
                raise InvalidInput.at("/cursor", "refers to a deleted row; start again at the first page")
            last = row[0]
        ids: list[str] = []
        if self.cursor is None or last is not None:
            keys, last_keys = [by, id], [literal(last, by.type), literal(self.cursor)]
            with_value = only_ids.where(by.is_not(None))
            selected = self._after_cursor(with_value, keys, last_keys, order, wanted)
            ids = list(session.scalars(selected))
        if len(ids) < wanted:
            without_value = only_ids.where(by.is_(None))
            request = self if self.cursor is not None and last is None else PageRequest(None, self.limit)
            rest = request._after_cursor(
                without_value, [id], [literal(self.cursor)], order, wanted - len(ids)
            )
            ids += session.scalars(rest)
        return ids

    def _after_cursor(
        self, rows: Select[T], keys: list[Any], last_keys: list[Any], order: Order, limit: int
    ) -> Select[T]:
        """Return the selection of the first rows after the cursor, sorted by some keys."""
        if self.cursor is not None:
            row_keys, cursor_keys = tuple_(*keys), tuple_(*last_keys)
            rows = rows.where(row_keys > cursor_keys if order.ascending else row_keys < cursor_keys)
        rows = rows.order_by(*(column.asc() if order.ascending else column.desc() for column in keys))
        return rows.limit(limit)
