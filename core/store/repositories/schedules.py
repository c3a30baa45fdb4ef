"""Stored schedules and their runs."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from sqlalchemy import String, func, select
from sqlalchemy.orm import Session

from core.errors import WrongState
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.pages import Columns, Direction, Page, Span, begins_with, narrowed, order_of
from core.store.repositories.rows import added, found, locked
from core.store.tables import Schedule, ScheduleRun


class RunStatus(StrEnum):
    """The status of a run."""

    QUEUED = "queued"
    TRAINING = "training"
    RUNNING = "running"
    PROMOTING = "promoting"
    PROMOTED = "promoted"
    REFUSED = "refused"
    TRAINED = "trained"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    FAILED = "failed"


class Trigger(StrEnum):
    """The trigger of a run."""

    CLOCK = "clock"
    REQUEST = "request"


ACTIVE_RUNS = (RunStatus.QUEUED, RunStatus.TRAINING, RunStatus.RUNNING, RunStatus.PROMOTING)
COLUMNS: Columns = MappingProxyType(
    {
        "created": None,
        "name": func.lower(Schedule.name, type_=String),
        "next": Schedule.next_run_at.expression,
    }
)


class Schedules:
    """Schedules within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, **values: Any) -> Schedule:
        """Record a schedule; the values are the columns of its row."""
        return added(self._session, Schedule(id=ids.new_id(ids.SCHEDULE), **values))

    def get(self, id: str) -> Schedule:
        """Return one schedule.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, Schedule, "schedule", id)

    def locked(self, id: str) -> Schedule:
        """Return one schedule, locked until the transaction ends.

        Raises:
            NotFound: It does not exist.
        """
        return locked(self._session, Schedule, "schedule", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        enabled: bool | None = None,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Schedule]:
        """List schedules, newest first by default.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            enabled: Only enabled ones, or only disabled ones.
            prefix: Only those whose name or id begins with it, ignoring case.
            sort: One of `COLUMNS`.
            direction: Sort direction.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Schedule), enabled=enabled)
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Schedule.name.expression, Schedule.id.expression))
        order = order_of(COLUMNS, sort, direction)
        return Span(cursor, limit).take(self._session, rows, Schedule.id, ids.SCHEDULE, order)

    def delete(self, id: str) -> None:
        """Delete a schedule and its runs; their jobs stay.

        Raises:
            NotFound: It does not exist.
        """
        self._session.delete(self.locked(id))
        self._session.flush()

    def due(self, now: datetime) -> list[str]:
        """List the ids of the schedules that are due, the longest due first."""
        rows = select(Schedule.id).where(Schedule.enabled.is_(True), Schedule.next_run_at <= now)
        return list(self._session.scalars(rows.order_by(Schedule.next_run_at, Schedule.id)))

    def going_on(self) -> list[str]:
        """List the ids of the schedules with a run that has not ended."""
        rows = select(ScheduleRun.schedule_id).where(ScheduleRun.status.in_(ACTIVE_RUNS)).distinct()
        return sorted(self._session.scalars(rows))

    def active_run(self, schedule_id: str) -> ScheduleRun | None:
        """Return the run of a schedule that has not ended, or None."""
        rows = select(ScheduleRun).where(
            ScheduleRun.schedule_id == schedule_id, ScheduleRun.status.in_(ACTIVE_RUNS)
        )
        return self._session.scalar(rows.order_by(ScheduleRun.id).limit(1))

    def add_run(
        self,
        schedule_id: str,
        due_at: datetime,
        trigger: Trigger,
        *,
        missed_since: datetime | None = None,
        status: RunStatus = RunStatus.QUEUED,
        detail: str | None = None,
    ) -> ScheduleRun:
        """Record a run; one with a terminal status has finished now."""
        run = ScheduleRun(
            id=ids.new_id(ids.SCHEDULE_RUN),
            schedule_id=schedule_id,
            due_at=due_at,
            missed_since=missed_since,
            trigger=trigger,
            status=status,
            detail=detail,
            datasets={},
            finished_at=None if status in ACTIVE_RUNS else utc_now(),
        )
        return added(self._session, run)

    def request_run(self, schedule_id: str) -> ScheduleRun:
        """Record a run that is due now.

        Raises:
            NotFound: There is no such schedule.
            WrongState: A run of it has not ended.
        """
        self.locked(schedule_id)
        active = self.active_run(schedule_id)
        if active is not None:
            raise WrongState("schedule", schedule_id, active.status, f"its run {active.id} has not ended")
        return self.add_run(schedule_id, utc_now(), Trigger.REQUEST)

    def finish(self, run: ScheduleRun, status: RunStatus, detail: str | None = None) -> None:
        """End a run."""
        run.status, run.finished_at, run.detail = status, utc_now(), detail
        self._session.flush()

    def runs(
        self, schedule_id: str, cursor: str | None, limit: int, *, status: str | None = None
    ) -> Page[ScheduleRun]:
        """List the runs of a schedule, newest first.

        Raises:
            InvalidInput: The cursor is not of this list.
            NotFound: There is no such schedule.
        """
        self.get(schedule_id)
        rows = narrowed(select(ScheduleRun), schedule_id=schedule_id, status=status)
        return Span(cursor, limit).take(self._session, rows, ScheduleRun.id, ids.SCHEDULE_RUN)

    def last_runs(self, schedule_ids: Iterable[str]) -> Mapping[str, ScheduleRun]:
        """Return the newest run of each of some schedules, without schedules that have none."""
        newest = (
            select(func.max(ScheduleRun.id))
            .where(ScheduleRun.schedule_id.in_(list(schedule_ids)))
            .group_by(ScheduleRun.schedule_id)
        )
        rows = self._session.scalars(select(ScheduleRun).where(ScheduleRun.id.in_(newest)))
        return {run.schedule_id: run for run in rows}

    def last_with_datasets(self, schedule_id: str) -> ScheduleRun | None:
        """Return the newest run that queued a job and neither was skipped nor failed, or None."""
        rows = select(ScheduleRun).where(
            ScheduleRun.schedule_id == schedule_id,
            ScheduleRun.job_id.is_not(None),
            ScheduleRun.status.not_in((*ACTIVE_RUNS, RunStatus.FAILED)),
        )
        return self._session.scalar(rows.order_by(ScheduleRun.id.desc()).limit(1))

    def last_due_at(self, schedule_id: str) -> datetime | None:
        """Return the latest due time of a run triggered by the clock, or None."""
        rows = select(func.max(ScheduleRun.due_at)).where(
            ScheduleRun.schedule_id == schedule_id, ScheduleRun.trigger == Trigger.CLOCK
        )
        return self._session.scalar(rows)
