"""What repositories do with single rows."""

from typing import TypeVar

from sqlalchemy.orm import Session

from core.errors import NotFound
from core.store.tables.base import Base

Row = TypeVar("Row", bound=Base)


def added(session: Session, row: Row) -> Row:
    """Insert a row and return it with what the database filled in."""
    session.add(row)
    session.flush()
    return row


def found(session: Session, table: type[Row], kind: str, id: str) -> Row:
    """Return the row of an id.

    Args:
        session: Of the transaction.
        table: Where it is.
        kind: What people call it.
        id: Of the row.

    Raises:
        NotFound: There is none.
    """
    row = session.get(table, id)
    if row is None:
        raise NotFound(kind, id)
    return row
