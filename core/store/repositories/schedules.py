"""Stored schedules and their runs."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from sqlalchemy import String, exists, func, or_, select

from core.errors import WrongState
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.pages import Page, PageRequest, filter_by_values
from core.store.repositories.repository import SimpleRepository, insert_row
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


class Schedules(SimpleRepository[Schedule]):
    """Schedules and their runs within one transaction; deleting a schedule deletes its runs, not its jobs."""

    table = Schedule
    kind = "schedule"
    id_prefix = ids.SCHEDULE
    columns = MappingProxyType(
        {
            "created": None,
            "name": func.lower(Schedule.name, type_=String),
            "next": Schedule.next_run_at.expression,
        }
    )
    searched = (Schedule.name.expression,)

    def due(self, now: datetime) -> list[str]:
        """List the ids of the schedules that are due, the longest overdue first.

        A schedule that changed after `now`, by a clock that was set back since, may be due, too.
        """
        may_be_due = or_(Schedule.next_run_at <= now, Schedule.updated_at > now)
        rows = select(Schedule.id).where(Schedule.enabled.is_(True), may_be_due)
        return list(self._session.scalars(rows.order_by(Schedule.next_run_at, Schedule.id)))

    def with_active_run(self) -> list[str]:
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
        """Record a run; a terminal status also sets its finish time."""
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
        return insert_row(self._session, run)

    def request_run(self, schedule_id: str) -> ScheduleRun:
        """Record a run that is due now.

        Raises:
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
        """
        self.get(schedule_id)
        rows = filter_by_values(select(ScheduleRun), schedule_id=schedule_id, status=status)
        return PageRequest(cursor, limit).take(self._session, rows, ScheduleRun.id, ids.SCHEDULE_RUN)

    def last_runs(self, schedule_ids: Iterable[str]) -> Mapping[str, ScheduleRun]:
        """Return the newest run of each of some schedules, without schedules that have none."""
        newest = (
            select(func.max(ScheduleRun.id))
            .where(ScheduleRun.schedule_id.in_(list(schedule_ids)))
            .group_by(ScheduleRun.schedule_id)
        )
        rows = self._session.scalars(select(ScheduleRun).where(ScheduleRun.id.in_(newest)))
        return {run.schedule_id: run for run in rows}

    def last_run_with_job(self, schedule_id: str) -> ScheduleRun | None:
        """Return the newest ended run that queued a job or study and did not fail, or None."""
        rows = select(ScheduleRun).where(
            ScheduleRun.schedule_id == schedule_id,
            or_(ScheduleRun.job_id.is_not(None), ScheduleRun.study_id.is_not(None)),
            ScheduleRun.status.not_in((*ACTIVE_RUNS, RunStatus.FAILED)),
        )
        return self._session.scalar(rows.order_by(ScheduleRun.id.desc()).limit(1))

    def has_run_at(self, schedule_id: str, due_at: datetime) -> bool:
        """Return whether a run of a schedule is recorded for a due time."""
        rows = exists().where(ScheduleRun.schedule_id == schedule_id, ScheduleRun.due_at == due_at)
        return bool(self._session.scalar(select(rows)))
