"""Tables of schedules and of their runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject


class Schedule(InProject, Base):
    """A job or study that is submitted periodically.

    Attributes:
        cron: Its cron expression, see `core.schedules.Cron`.
        timezone: The time zone of the expression.
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
        model_id: The trained model, or None.
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
