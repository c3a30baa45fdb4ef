"""Tables of events, webhooks and their deliveries."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, PROJECT, WORD, Base
from core.store.tables.mixins import Labelled

EVENT_KIND = String(32)
# SQLite numbers rows by itself where the type is exactly INTEGER.
SEQUENCE = BigInteger().with_variant(Integer, "sqlite")


class Event(Labelled, Base):
    """Something that happened, recorded by the transaction that did it.

    Attributes:
        id: Of a sequence whose numbers are committed in order and never used again.
        kind: One of `core.events.EVENT_KINDS`.
        object_kind: What it is about: `job`, `study`, `alias`, `dataset`, `worker`, …
        object_id: Id of that, `name@alias` of an alias, or the name of a worker.
        key_id: The API key that caused it, None where there was none.
        data: What happened, by the kind.
    """

    __tablename__ = "events"
    __table_args__ = (Index(None, "object_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(SEQUENCE, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    kind: Mapped[str] = mapped_column(EVENT_KIND)
    object_kind: Mapped[str] = mapped_column(WORD)
    object_id: Mapped[str] = mapped_column(NAME)
    key_id: Mapped[str | None] = mapped_column(ID)
    data: Mapped[dict[str, Any]]


class Webhook(Base):
    """An address that events are sent to.

    Attributes:
        events: The kinds that are sent, empty for all.
        project: Only events of this project are sent; None for all.
        disabled_reason: Why the service disabled it, None where it did not.
        secret: The key of its signatures, `whsec_…`, or that text encrypted; see `app.webhooks.secrets`.
        former_secret: The one before the last rotation, which signs as well until `former_until`.
        dispatched_id: The last event for which deliveries were made.
        failing_since: When attempts began to fail, None while they succeed.
        created_by: The API key that made it, None where no key was needed.
    """

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    events: Mapped[list[str]]
    description: Mapped[str | None] = mapped_column(Text)
    project: Mapped[str | None] = mapped_column(PROJECT)
    enabled: Mapped[bool] = mapped_column(Boolean)
    disabled_reason: Mapped[str | None] = mapped_column(Text)
    secret: Mapped[str] = mapped_column(NAME)
    former_secret: Mapped[str | None] = mapped_column(NAME)
    former_until: Mapped[datetime | None]
    dispatched_id: Mapped[int] = mapped_column(BigInteger)
    failing_since: Mapped[datetime | None]
    last_delivered_at: Mapped[datetime | None]
    created_by: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class WebhookDelivery(Base):
    """One event on its way to one webhook.

    Attributes:
        object_id: Of the event: deliveries of one object are sent in order.
        state: `waiting`, `delivered` or `dead`.
        attempts: How often it was sent since it was made or redelivered.
        next_attempt_at: When it may be sent; that of one being sent is when another process may send it.
        claim: How often it was claimed, so that a process whose claim has ended records nothing.
        log: The latest attempts: `[{"at", "status", "took_seconds", "error", "answer"}]`.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        UniqueConstraint("webhook_id", "event_id"),
        Index(None, "state", "next_attempt_at"),
        Index(None, "webhook_id", "object_id", "event_id"),
        Index(None, "webhook_id", "id"),
        Index(None, "event_id"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ID, ForeignKey("webhooks.id", ondelete="CASCADE"))
    event_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("events.id", ondelete="CASCADE"))
    object_id: Mapped[str] = mapped_column(NAME)
    state: Mapped[str] = mapped_column(WORD)
    attempts: Mapped[int] = mapped_column(default=0)
    next_attempt_at: Mapped[datetime | None]
    claim: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    delivered_at: Mapped[datetime | None]
    log: Mapped[list[dict[str, Any]]]
