"""Advance schedules: start due runs, follow active ones, and record errors."""

from contextlib import suppress
from datetime import datetime
from functools import partial

import structlog

from core.errors import NotFound, RankeryError, StoreUnavailable, WrongState
from core.schedules import Cron
from core.store import Job, Schedule, ScheduleRun, Store, Transaction
from core.store.clock import utc_now
from core.store.repositories.schedules import RunStatus, Trigger
from worker.process.schedule_runs import KEY, end, follow, start

_LOG = structlog.stdlib.get_logger(__name__)


def advance_all(store: Store, max_active_jobs: int, now: datetime | None = None) -> list[Job]:
    """Advance all schedules that are due or have an active run; return the queued jobs.

    Args:
        max_active_jobs: Default limit of active jobs per API key.
        now: Current time; None for the time of this machine.
    """
    moment = now or utc_now()
    with store.read() as tx:
        waiting = dict.fromkeys([*tx.schedules.with_active_run(), *tx.schedules.due(moment)])
    advanced = (_advance_one(store, schedule_id, moment, max_active_jobs) for schedule_id in waiting)
    return [job for queued in advanced for job in queued]


def _advance_one(store: Store, schedule_id: str, now: datetime, max_active_jobs: int) -> list[Job]:
    try:
        with store.begin() as tx:
            return advance(tx, schedule_id, now, max_active_jobs)
    except StoreUnavailable:
        raise
    except RankeryError as error:
        _LOG.warning("schedule.failed", schedule_id=schedule_id, exc_info=True)
        with suppress(NotFound), store.begin() as tx:  # the schedule may be deleted by now
            _fail(tx, schedule_id, now, error)
    except Exception:  # noqa: BLE001 - an error of one schedule must not stop the others and the sweep
        _LOG.exception("schedule.unexpected_error", schedule_id=schedule_id)
        with suppress(NotFound), store.begin() as tx:
            _disable_after_error(tx, schedule_id, now)
    return []


def advance(tx: Transaction, schedule_id: str, now: datetime, max_active_jobs: int) -> list[Job]:
    """Advance the active run of a schedule, and start another run if one is due.

    Run, job and promotion change in one transaction, while the schedule is locked. After a crash the next
    sweep of any worker continues from the committed state.

    Raises:
        InvalidInput: The job is invalid for the present datasets and models.
        JobQuotaTooSmall: The quota of the key is smaller than the run.
        NotFound: The schedule, or a dataset or model that it needs, was deleted.
        WrongState: The API key of the schedule was revoked or has expired.
    """
    schedule = tx.schedules.locked(schedule_id)
    queued = []
    run = tx.schedules.active_run(schedule_id)
    if run is not None:
        queued += follow(tx, schedule, run, max_active_jobs)
    if _is_due(schedule, now):
        run = _record_due_run(tx, schedule, now)
        if run is not None:
            queued += start(tx, schedule, run, max_active_jobs)
    elif schedule.enabled and schedule.updated_at > now:  # the clock was set back
        schedule.next_run_at, schedule.updated_at = _next_without_run(tx, schedule, now), now
    return queued


def _is_due(schedule: Schedule, now: datetime) -> bool:
    return schedule.enabled and schedule.next_run_at is not None and schedule.next_run_at <= now


def _record_due_run(tx: Transaction, schedule: Schedule, now: datetime) -> ScheduleRun | None:
    """Record the due run and return it, None if it was recorded before or is skipped.

    Due times that were missed share one run, due at the latest of them.
    """
    first = schedule.next_run_at or now
    due_at = Cron(schedule.cron, schedule.timezone).latest(first, now)
    schedule.next_run_at = _next_without_run(tx, schedule, now)
    if tx.schedules.has_run_at(schedule.id, due_at):
        return None  # the clock was set back
    missed_since = first if due_at > first else None
    record = partial(tx.schedules.add_run, schedule.id, due_at, Trigger.CLOCK, missed_since=missed_since)
    active = tx.schedules.active_run(schedule.id)
    if active is None:
        return record()
    detail = f"The run {active.id}, due at {active.due_at:%Y-%m-%d %H:%M} UTC, had not ended."
    record(status=RunStatus.SKIPPED, detail=detail)
    return None


def _next_without_run(tx: Transaction, schedule: Schedule, now: datetime) -> datetime | None:
    """Return the next due time without a run; after the clock was set back, the next ones may have runs."""
    cron = Cron(schedule.cron, schedule.timezone)
    due_at = cron.next_after(now)
    while due_at is not None and tx.schedules.has_run_at(schedule.id, due_at):
        due_at = cron.next_after(due_at)
    return due_at


def _disable_after_error(tx: Transaction, schedule_id: str, now: datetime) -> None:
    """Record the unexpected error of a run, and disable the schedule, since it would fail again."""
    schedule = tx.schedules.locked(schedule_id)
    log = "see the log of the worker"
    detail = f"An unexpected error stopped the schedule; {log}. Correct the schedule and enable it."
    run = tx.schedules.active_run(schedule_id)
    if run is None and _is_due(schedule, now):
        run = tx.schedules.add_run(schedule_id, schedule.next_run_at or now, Trigger.CLOCK)
    if run is not None:
        end(tx, schedule, run, RunStatus.FAILED, detail)
    _disable(schedule, "The schedule cannot be run", detail)


def _fail(tx: Transaction, schedule_id: str, now: datetime, error: RankeryError) -> None:
    """Record a failed run; disable the schedule if its API key was revoked or has expired."""
    schedule = tx.schedules.locked(schedule_id)
    run = tx.schedules.active_run(schedule_id)
    if run is None and _is_due(schedule, now):
        run = _record_due_run(tx, schedule, now)
    if run is not None:
        run.started_at = run.started_at or utc_now()
        end(tx, schedule, run, RunStatus.FAILED, str(error))
    if isinstance(error, WrongState) and error.kind == KEY:
        _disable(schedule, "The API key of the schedule has expired or was revoked", str(error))


def _disable(schedule: Schedule, title: str, detail: str) -> None:
    schedule.enabled, schedule.next_run_at = False, None
    schedule.problem = {"title": title, "detail": detail}
