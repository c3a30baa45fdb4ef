"""Advisory locks of the database."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def advisory_lock(session: Session, kind: int, name: str) -> None:
    """Take an advisory lock until the transaction ends.

    What is read afterwards is what they have left. On SQLite there is one writing transaction at a time as
    it is.

    Args:
        session: Of the transaction, whose end ends the turn.
        kind: Any number of Rankery's own for this kind of thing, in 31 bits.
        name: Which of them.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(kind, func.hashtext(name))))
