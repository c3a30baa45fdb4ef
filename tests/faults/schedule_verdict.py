"""Checks of a schedule's runs in the database: no run is lost, repeated or contrary to its gate."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from core.events import SCHEDULE_FAILED, SCHEDULE_RAN
from core.store.repositories.schedules import ACTIVE_RUNS, RunStatus
from core.store.tables import AliasMove, Event, Job, Model, ModelAlias, Schedule, ScheduleRun


def schedule_problems(engine: Engine, schedule_id: str, dues: Sequence[datetime]) -> list[str]:
    """Return the problems of a schedule, which must have no active run; an empty list if there are none.

    Args:
        engine: Engine of the database.
        schedule_id: The schedule, the only one that trains and promotes.
        dues: All due times so far.
    """
    with Session(engine) as session:
        schedule = session.get_one(Schedule, schedule_id)
        rows = select(ScheduleRun).where(ScheduleRun.schedule_id == schedule_id)
        runs = session.scalars(rows.order_by(ScheduleRun.due_at)).all()
        return [
            *_due_times(runs, dues),
            *_jobs(session, schedule, runs),
            *_models(session, runs),
            *_moves(session, schedule, runs),
            *_events(session, schedule, runs),
        ]


def _due_times(runs: Sequence[ScheduleRun], dues: Sequence[datetime]) -> list[str]:
    """Check that each due time has one run, which may be a later run that covers missed due times."""
    problems = [f"run {run.id} is {run.status}" for run in runs if run.status in ACTIVE_RUNS]
    for due in dues:
        of_due = [run for run in runs if (run.missed_since or run.due_at) <= due <= run.due_at]
        if len(of_due) != 1:
            problems.append(f"{due:%H:%M} has {len(of_due)} runs")
    return problems + [f"{run.due_at:%H:%M} was not due" for run in runs if run.due_at not in dues]


def _jobs(session: Session, schedule: Schedule, runs: Sequence[ScheduleRun]) -> list[str]:
    """Check that the jobs since the creation of the schedule are those of its runs."""
    problems = []
    for kind, ids in (
        ("train", [run.job_id for run in runs if run.job_id]),
        ("promote", [run.promotion_job_id for run in runs if run.promotion_job_id]),
    ):
        later_jobs = select(Job.id).where(Job.kind == kind, Job.created_at >= schedule.created_at)
        job_ids = session.scalars(later_jobs).all()
        if sorted(job_ids) != sorted(ids):
            problems.append(f"{len(job_ids)} jobs to {kind} for {len(ids)} runs")
    return problems


def _models(session: Session, runs: Sequence[ScheduleRun]) -> list[str]:
    """Check that each training made one version, which is recorded in its run."""
    by_job = Counter(session.scalars(select(Model.job_id)))
    problems = [f"{count} models of {job_id}" for job_id, count in by_job.items() if count > 1]
    for run in runs:
        model = session.get(Model, run.model_id) if run.model_id else None
        if run.model_id and (model is None or model.job_id != run.job_id):
            problems.append(f"the model of {run.id} is not that of its job")
    return problems


def _moves(session: Session, schedule: Schedule, runs: Sequence[ScheduleRun]) -> list[str]:
    """Check that each promoted or refused run has one move in the alias history, and other runs none."""
    moves = session.scalars(select(AliasMove).order_by(AliasMove.id)).all()
    by_job = Counter((move.job_id, move.kind) for move in moves)
    problems = [
        f"{count} times {kind} by {job}" for (job, kind), count in by_job.items() if job and count > 1
    ]
    kinds = {RunStatus.PROMOTED: "promoted", RunStatus.REFUSED: "refused"}
    for run in runs:
        of_run = [move.kind for move in moves if run.promotion_job_id and move.job_id == run.promotion_job_id]
        expected = [kinds[RunStatus(run.status)]] if run.promotion_job_id and run.status in kinds else []
        if of_run != expected:
            problems.append(f"run {run.id}, {run.status}, has the moves {of_run}")
    promoted_models = [run.model_id for run in runs if run.status == RunStatus.PROMOTED]
    alias = session.scalar(select(ModelAlias).where(ModelAlias.alias == schedule.alias))
    if promoted_models and (alias is None or alias.model_id != promoted_models[-1]):
        problems.append("the alias does not point at the version that was promoted last")
    return problems


def _events(session: Session, schedule: Schedule, runs: Sequence[ScheduleRun]) -> list[str]:
    """Check that each run that was not skipped has one event."""
    kinds = (SCHEDULE_RAN, SCHEDULE_FAILED)
    rows = select(Event).where(Event.object_id == schedule.id, Event.kind.in_(kinds))
    reported = Counter(event.data["run_id"] for event in session.scalars(rows))
    expected = Counter(run.id for run in runs if run.status != RunStatus.SKIPPED)
    return [] if reported == expected else [f"{reported.total()} events of {expected.total()} runs"]
