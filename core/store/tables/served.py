"""Tables of the rankings that were served, of the events on them, and of the key of user hashes."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProjectOfName


class ServedRanking(InProjectOfName, Base):
    """A stored ranking that a model served; it is kept when the model is deleted.

    Attributes:
        name: Name of the model.
        version: Version of the model.
        user: Keyed hash of the user, None where unknown.
        session: Keyed hash of the session, None where unknown.
        content: `{"query", "documents"}`: ids of the query and of the documents returned, best first.
    """

    __tablename__ = "served_rankings"
    __table_args__ = (Index(None, "name", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    version: Mapped[int]
    user: Mapped[str | None] = mapped_column(ID)
    session: Mapped[str | None] = mapped_column(ID)
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ServedEvent(Base):
    """An action of a user on a document of a served ranking; a repeated action counts once.

    Attributes:
        ranking_id: The ranking.
        place: Position of the document in the ranking, from 0.
        action: Name of the action, such as `click`.
        at: Time of the action.
    """

    __tablename__ = "served_events"

    ranking_id: Mapped[str] = mapped_column(ID, primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    action: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[datetime]


class HashKey(Base):
    """A secret key of keyed hashes (HMAC), shared by all processes.

    Attributes:
        name: Purpose of the key.
        key: 32 random bytes in hexadecimal.
    """

    __tablename__ = "hash_keys"

    name: Mapped[str] = mapped_column(WORD, primary_key=True)
    key: Mapped[str] = mapped_column(SHA256)
