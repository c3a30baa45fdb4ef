"""Add, find and lock single rows."""

from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.store.tables import Comparison, Evaluation, Inspection, Job, Ranking
from core.store.tables.base import Base

Row = TypeVar("Row", bound=Base)
Result = TypeVar("Result", Evaluation, Ranking, Comparison, Inspection)


def added(session: Session, row: Row) -> Row:
    """Insert a row and return it with the defaults of the database."""
    session.add(row)
    session.flush()
    return row


def added_result(session: Session, row: Result) -> Result:
    """Insert a result of a job, in the project of the job."""
    row.project = session.scalar(select(Job.project).where(Job.id == row.job_id))
    return added(session, row)


def found(session: Session, table: type[Row], kind: str, id: str) -> Row:
    """Return the row of an id.

    Args:
        session: Session of the transaction.
        table: Its table.
        kind: Name of the kind in errors.
        id: Id of the row.

    Raises:
        NotFound: It does not exist.
    """
    row = session.get(table, id)
    if row is None:
        raise NotFound(kind, id)
    return row


def locked(session: Session, table: type[Row], kind: str, id: str) -> Row:
    """Return the current row of an id, locked until the transaction ends.

    Raises:
        NotFound: It does not exist.
    """
    row = session.get(table, id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(kind, id)
    return row
