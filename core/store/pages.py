"""Lists a page at a time, newest first; the cursor is the last id seen."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import InvalidInput
from core.store.ids import is_id

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows, and where to go on.

    Attributes:
        items: The rows, newest first.
        next_cursor: What to pass for the page that follows; None on the last one.
    """

    items: list[T]
    next_cursor: str | None


@dataclass(frozen=True)
class Span:
    """Which page of a list is wanted.

    Attributes:
        cursor: The last id of the page before, or None for the first page.
        limit: Rows at most, >= 1.
    """

    cursor: str | None
    limit: int

    def take(self, session: Session, rows: Select[T], id: InstrumentedAttribute[str], prefix: str) -> Page[T]:
        """Run a selection for this page only.

        Rows added meanwhile are newer than any cursor, so a walk neither repeats nor misses a row.

        Raises:
            InvalidInput: The cursor is no id of this list, or the limit is below 1.
        """
        if self.limit < 1:
            raise InvalidInput.at("/limit", "must be at least 1")
        if self.cursor is not None:
            if not is_id(self.cursor, prefix):
                raise InvalidInput.at("/cursor", "must be the next_cursor of the page before")
            rows = rows.where(id < self.cursor)
        found = list(session.scalars(rows.order_by(id.desc()).limit(self.limit + 1)))
        items: list[Any] = found[: self.limit]
        return Page(items, items[-1].id if len(found) > self.limit else None)
