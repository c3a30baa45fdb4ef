"""Base class of repositories: add, find, list and delete the rows of one table."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.store.repositories import ids
from core.store.repositories.pages import (
    Columns,
    Direction,
    Order,
    Page,
    PageRequest,
    begins_with,
    filter_by_values,
    order_of,
)
from core.store.tables import Base

Row = TypeVar("Row", bound=Base)
_CHUNK = 500


class Repository(Generic[Row]):
    """Rows of one table within one transaction.

    Attributes:
        table: The table; its key is a column `id`.
        id_prefix: First characters of the ids.
        columns: Sort keys of the list by name.
        searched: Columns that a search by prefix reads besides the id.
    """

    table: type[Row]
    kind: str
    id_prefix: str
    columns: Columns = MappingProxyType({"created": None})
    searched: tuple[ColumnElement[Any], ...] = ()

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, id: str) -> Row:
        """Return one row.

        Raises:
            NotFound: No row has the id.
        """
        return self._existing(self._session.get(self.table, id) if ids.may_exist(id) else None, id)

    def locked(self, id: str) -> Row:
        """Return one current row, locked until the transaction ends.

        Raises:
            NotFound: No row has the id.
        """
        row = self._session.get(self.table, id, with_for_update=True, populate_existing=True)
        return self._existing(row, id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
        **wanted: Any,
    ) -> Page[Row]:
        """List rows, newest first by default.

        Args:
            cursor: Cursor of the page, None for the first page.
            prefix: Only rows whose id or searched column begins with it, ignoring case.
            sort: One of `columns`.
            wanted: Only rows with these values, by column; None for all.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        order = order_of(self.columns, sort, direction)
        return self._take(self._select(prefix, **wanted), cursor, limit, order)

    def _select(self, prefix: str | None = None, **wanted: Any) -> Select[Row]:
        rows = filter_by_values(select(self.table), **wanted)
        return rows if prefix is None else rows.where(self._begins_with(prefix))

    def _begins_with(self, prefix: str) -> ColumnElement[bool]:
        return begins_with(prefix, *self.searched, self._id.expression)

    def _take(self, rows: Select[Row], cursor: str | None, limit: int, order: Order) -> Page[Row]:
        return PageRequest(cursor, limit).take(self._session, rows, self._id, self.id_prefix, order)

    def _insert(self, **values: Any) -> Row:
        """Insert a row with the defaults of the database, and a new id where none is given."""
        columns = {name: value for name, value in values.items() if name != "id" or value is not None}
        return insert_row(self._session, self.table(**{"id": ids.new_id(self.id_prefix), **columns}))

    def _existing(self, row: Row | None, id: str) -> Row:
        if row is None:
            raise NotFound(self.kind, id)
        return row

    @property
    def _id(self) -> Any:
        return self.table.id  # type: ignore[attr-defined]


class SimpleRepository(Repository[Row]):
    """Rows that are inserted with the given columns and deleted without the trash."""

    def add(self, **values: Any) -> Row:
        """Add a row; the values are its columns."""
        return self._insert(**values)

    def delete(self, id: str) -> None:
        """Delete a row.

        Raises:
            NotFound: No row has the id.
        """
        self._session.delete(self.locked(id))
        self._session.flush()


def insert_row(session: Session, row: Row) -> Row:
    """Insert a row and return it with the defaults of the database."""
    session.add(row)
    session.flush()
    return row


def chunks(session: Session, rows: Select[Row], key: Any, after: str = "") -> Iterator[list[Row]]:
    """Yield rows in chunks by ascending key, removed from the session.

    Args:
        key: Mapped attribute of the key, such as `Job.id`.
        after: Only rows whose key is above this.
    """
    while True:
        chunk = list(session.scalars(rows.where(key > after).order_by(key).limit(_CHUNK)))
        for row in chunk:
            session.expunge(row)
        yield chunk
        if len(chunk) < _CHUNK:
            return
        after = getattr(chunk[-1], key.key)


def insert_absent(
    session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]], *key: str
) -> set[tuple[Any, ...]]:
    """Insert rows, skipping those that would violate a unique constraint.

    Args:
        rows: Values by column, the same columns in each.
        key: Columns of the primary key.

    Returns:
        The keys of the inserted rows.
    """
    if not rows:
        return set()
    statement = upsert(session, table).on_conflict_do_nothing()
    keys = [table.__table__.c[name] for name in key]
    return set(map(tuple, session.execute(statement.returning(*keys), [dict(row) for row in rows])))


def upsert(session: Session, table: type[Base]) -> Any:
    """Return an INSERT for which conflicts can be handled, such as by `on_conflict_do_update`."""
    # SQLite and PostgreSQL share this syntax, but SQLAlchemy has an `insert` for each.
    dialect = import_module(f"sqlalchemy.dialects.{session.get_bind().dialect.name}")
    return dialect.insert(table.__table__)
