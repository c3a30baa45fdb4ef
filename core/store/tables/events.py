"""Tables of events, webhooks, deliveries and schedules."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, PROJECT, WORD, Base, InProject

EVENT_KIND = String(32)
# SQLite generates ids only for the exact type INTEGER.
SEQUENCE = BigInteger().with_variant(Integer, "sqlite")


class Event(InProject, Base):
    """An event, recorded by the transaction that caused it.

    Attributes:
        id: Number of a sequence that is committed in order and never reused.
        kind: One of `core.events.EVENT_KINDS`.
        object_kind: Kind of its object: `job`, `study`, `alias`, `dataset`, `worker`, …
        object_id: Id of its object, `name@alias` of an alias, or the name of a worker.
        data: Payload, whose fields depend on the kind.
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
    """A receiver of events.

    Attributes:
        events: The kinds to send, empty for all.
        project: Send only events of this project; None for all.
        secret: The key of its signatures, `whsec_…`, or that text encrypted; see `app.webhooks.secrets`.
        former_secret: The secret before the last rotation, which also signs until `former_until`.
        dispatched_id: Id of the last event for which deliveries were created.
        failing_since: Time of the first failure since the last success, or None.
        created_by: The API key that created it, None without authentication.
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
    """The delivery of one event to one webhook.

    Attributes:
        object_id: Object of the event: deliveries of one object are sent in order.
        state: `waiting`, `delivered` or `dead`.
        attempts: Number of attempts since it was created or redelivered.
        next_attempt_at: Time of the next attempt; while claimed, the end of the claim's lease.
        claim: Number of claims, a fencing token for the outcome of an attempt.
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


class Schedule(InProject, Base):
    """A job or study that is submitted periodically.

    Attributes:
        cron: Its cron expression, see `core.schedules.Cron`.
        enabled: Whether runs are queued by the clock.
        job: The requested job, with datasets by name.
        spec: The job as resolved when the schedule was set.
        alias: The alias to promote each model to through its gate, or None.
        only_new_data: Whether the clock skips a run with the same datasets as the last run that did not fail.
        next_run_at: The next due time, None while it is disabled.
        problem: `{"title", "detail"}` of the error that disabled it, or None.
        key_id: The API key that set it last, for which its jobs are queued; None without authentication.
    """

    __tablename__ = "schedules"
    __table_args__ = (Index(None, "enabled", "next_run_at"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    cron: Mapped[str] = mapped_column(NAME)
    timezone: Mapped[str] = mapped_column(NAME)
    enabled: Mapped[bool]
    job: Mapped[dict[str, Any]]
    spec: Mapped[dict[str, Any]]
    alias: Mapped[str | None] = mapped_column(NAME)
    only_new_data: Mapped[bool]
    next_run_at: Mapped[datetime | None]
    problem: Mapped[dict[str, Any] | None]
    key_id: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class ScheduleRun(Base):
    """A run of a schedule; it is kept when its jobs, study or model are deleted.

    Attributes:
        due_at: Its due time, or the time of the request.
        missed_since: The first of the missed due times that it replaces, or None.
        trigger: `clock` or `request`.
        status: See `core.store.repositories.schedules.RunStatus`.
        detail: A sentence about its outcome, or None.
        datasets: Ids of its datasets by `train`, `validation` and `test`.
        job_id: Its training or other job; None until it is queued, and for a study.
        study_id: Its study; None until it is submitted, and for a job.
        promotion_job_id: The job that compares this model with the alias, or None.
    """

    __tablename__ = "schedule_runs"
    __table_args__ = (UniqueConstraint("schedule_id", "due_at"), Index(None, "schedule_id", "id"))

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    schedule_id: Mapped[str] = mapped_column(ID, ForeignKey("schedules.id", ondelete="CASCADE"))
    due_at: Mapped[datetime]
    missed_since: Mapped[datetime | None]
    trigger: Mapped[str] = mapped_column(WORD)
    status: Mapped[str] = mapped_column(WORD, index=True)
    detail: Mapped[str | None] = mapped_column(Text)
    datasets: Mapped[dict[str, str]]
    job_id: Mapped[str | None] = mapped_column(ID)
    study_id: Mapped[str | None] = mapped_column(ID)
    model_id: Mapped[str | None] = mapped_column(ID)
    promotion_job_id: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
