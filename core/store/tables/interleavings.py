"""Tables of interleavings and of the lists that they showed."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject


class Interleaving(InProject, Base):
    """An experiment that interleaves the rankings of two or more rankers.

    Attributes:
        name: Display name.
        rankers: Names of the rankers; a model has its reference, such as `web:3`, as its name.
        model_ids: Ids of the models, in the order of the rankers; None if callers send the rankings.
        method: Name of the method.
        length: Largest number of documents of a list.
        seed: Seed of the lists.
        unit: Unit of the sequential test, `user` or `list`.
        rule: Error probabilities and smallest difference, see `core.interleaving.SequentialRule`.
        click_window_seconds: Time after a list is shown in which clicks count; afterwards the list is
            evaluated. With 0, clicks always count immediately.
        key_id: The API key that created it, None without authentication.
        expired_lists: Lists without a click that retention deleted.
    """

    __tablename__ = "interleavings"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    rankers: Mapped[list[str]]
    model_ids: Mapped[list[str] | None]
    method: Mapped[str] = mapped_column(WORD)
    length: Mapped[int]
    seed: Mapped[int]
    unit: Mapped[str] = mapped_column(WORD)
    rule: Mapped[dict[str, Any]]
    click_window_seconds: Mapped[int]
    key_id: Mapped[str | None] = mapped_column(ID)
    expired_lists: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ShownList(Base):
    """A list that an interleaving showed.

    Attributes:
        assignment: Hash of the user and the query, which always get the same list; None without a user.
        user: Hash of the user, None where unknown.
        content: Query, documents and the credits for a click, see `InterleavedList.to_json`; empty after its
            retention.
        clicks: Clicked positions from 0, ascending; None before the first click.
        credits: Credits of the rankers for these clicks, None before the first click.
        expired: Whether its retention is over, so that only user, clicks and credits are left.
    """

    __tablename__ = "interleaved_lists"
    __table_args__ = (
        UniqueConstraint("interleaving_id", "assignment"),
        Index(None, "interleaving_id", "id"),
        Index(None, "expired", "created_at"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    interleaving_id: Mapped[str] = mapped_column(ID, ForeignKey("interleavings.id"))
    assignment: Mapped[str | None] = mapped_column(ID)
    user: Mapped[str | None] = mapped_column(ID)
    content: Mapped[dict[str, Any]]
    clicks: Mapped[list[int] | None]
    credits: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    expired: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
