"""Advance schedules: queue due jobs, and the promotions of trained models."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial

import structlog

from core.errors import JobQuotaExceeded, NotFound, RankeryError, StoreUnavailable, WrongState
from core.events import SCHEDULE_FAILED, SCHEDULE_RAN
from core.jobs import JobSpec, System
from core.jobs.drift import DriftJob
from core.jobs.ingest_clicks import IngestClicksJob
from core.jobs.promote import PromoteJob
from core.jobs.status import QUEUED, REFUSED, RUNNING, SUCCEEDED
from core.schedules import STUDY, TRAININGS, Cron, dataset_names, study_of_run, training_of_run
from core.store import Job, Model, Schedule, ScheduleRun, Store, Transaction
from core.store.clock import utc_now
from core.store.repositories.api_keys import is_active
from core.store.repositories.projects import Labels
from core.store.repositories.schedules import RunStatus, Trigger
from core.store.served_logs import CLICK_WINDOW, ServedPeriod, queue_served_log
from core.store.visibility import limited_to
from core.stored import Stored
from core.studies import Budget

_KEY = "API key"
SERVED_DAYS = 30.0  # default days of served clicks that a run trains on
_LOG = structlog.stdlib.get_logger(__name__)


def advance_all(store: Store, max_active_jobs: int, now: datetime | None = None) -> list[Job]:
    """Advance all schedules that are due or have an active run; return the queued jobs.

    Args:
        store: Store.
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
        JobQuotaExceeded: The key has too many jobs.
        NotFound: The schedule, or a dataset or model that it needs, was deleted.
        WrongState: The API key of the schedule was revoked or has expired.
    """
    schedule = tx.schedules.locked(schedule_id)
    queued = []
    run = tx.schedules.active_run(schedule_id)
    if run is not None:
        queued += _follow(tx, schedule, run, max_active_jobs)
    if _is_due(schedule, now):
        run = _record_due_run(tx, schedule, now)
        if run is not None:
            queued += _start(tx, schedule, run, max_active_jobs)
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


def _start(tx: Transaction, schedule: Schedule, run: ScheduleRun, max_active_jobs: int) -> list[Job]:
    """Queue the job of a run on the newest datasets."""
    with _limited_to_key(tx, schedule):
        datasets = _newest_datasets(tx, schedule)
        run.datasets, run.started_at = datasets, utc_now()
        clicks = schedule.job.get("served_clicks")
        if schedule.only_new_data and datasets and run.trigger == Trigger.CLOCK and clicks is None:
            last = tx.schedules.last_run_with_job(schedule.id)
            if last is not None and last.datasets == datasets:
                detail = f"No new data: the run {last.id} used the same datasets."
                _end(tx, schedule, run, RunStatus.SKIPPED, detail)
                return []
        if schedule.spec["kind"] == STUDY:
            return _start_study(tx, schedule, run, max_active_jobs)
        tx.quotas.allow_jobs(schedule.key_id, max_active_jobs)
        if clicks is not None:
            job = _queue_click_log(tx, schedule, clicks)
        else:
            job = tx.enqueue(_spec_of_run(tx, schedule, datasets), schedule.key_id, _labels(schedule))
    run.job_id = job.id
    return [job]


def _queue_click_log(tx: Transaction, schedule: Schedule, clicks: Stored) -> Job:
    """Queue the job that makes the click log of served rankings to train on."""
    now = utc_now()
    until = now - CLICK_WINDOW
    since = until - timedelta(days=clicks.get("days", SERVED_DAYS))
    period = ServedPeriod.of_model(tx, clicks.get("model") or schedule.job["model_name"], since, until)
    options = {"actions": clicks["actions"]} if clicks.get("actions") else {}
    name, owner = f"{schedule.name}, {now:%Y-%m-%d}", schedule.key_id
    return queue_served_log(tx, name, period, options, key_id=owner, project=schedule.project)[1]


def _train_on_clicks(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, log_id: str, max_active_jobs: int
) -> list[Job]:
    """Queue the training of a run whose click log is ready."""
    if schedule.job.get("served_clicks") is None:
        detail = "The schedule was changed while its click log was made. The next run has the new job."
        _end(tx, schedule, run, RunStatus.FAILED, detail)
        return []
    with _limited_to_key(tx, schedule):
        if not _allows_job(tx, schedule, run, "train on the clicks", max_active_jobs):
            return []
        run.datasets = _newest_datasets(tx, schedule)  # the schedule may name other datasets by now
        spec = _spec_of_run(tx, schedule, run.datasets, log_id)
        job = tx.enqueue(spec, schedule.key_id, _labels(schedule))
    run.job_id, run.status, run.detail = job.id, RunStatus.QUEUED, None
    return [job]


def _allows_job(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, purpose: str, max_active_jobs: int
) -> bool:
    """Return whether the quota of the key allows the next job of a run, which else waits."""
    try:
        tx.quotas.allow_jobs(schedule.key_id, max_active_jobs)
    except JobQuotaExceeded as full:
        run.detail = f"Waits to {purpose} until fewer than {full.bound:,} jobs of its API key wait or run."
        return False
    return True


def _start_study(tx: Transaction, schedule: Schedule, run: ScheduleRun, max_active_jobs: int) -> list[Job]:
    """Submit the study of a run, and return the jobs of its first trials."""
    statistics = tx.datasets.get(run.datasets["train"]).statistics
    spec = study_of_run(schedule.spec, schedule.job, run.datasets, statistics)
    budget, parallel = Budget(**spec.pop("budget")), spec.pop("parallel_trials")
    tx.quotas.allow_jobs(schedule.key_id, max_active_jobs, parallel)
    study = tx.studies.add(spec, budget, parallel, schedule.key_id, schedule.project)
    run.study_id = study.id
    return tx.jobs.several(tx.studies.active_jobs(study.id))


def _labels(schedule: Schedule) -> Labels:
    name, notes, tags = map(schedule.job.get, ("name", "notes", "tags"))
    return Labels(name, notes, tags, schedule.project)


def _newest_datasets(tx: Transaction, schedule: Schedule) -> dict[str, str]:
    newest = {}
    for role, name in dataset_names(schedule.job).items():
        dataset = tx.datasets.newest(name, schedule.project)
        if dataset is None:
            raise NotFound("ready dataset with the name", name)
        newest[role] = dataset.id
    return newest


def _spec_of_run(
    tx: Transaction, schedule: Schedule, dataset_ids: Mapping[str, str], click_log_id: str | None = None
) -> JobSpec:
    if schedule.spec["kind"] in TRAININGS:
        statistics = tx.datasets.get(dataset_ids["train"]).statistics
        return training_of_run(
            schedule.spec,
            schedule.job,
            dataset_ids,
            statistics,
            lambda reference: tx.models.resolve(reference).reference,
            click_log_id,
        )
    # Resolve the model again: an alias may point at another version by now.
    model = tx.models.resolve(schedule.job["model"])
    datasets = DriftJob.reference_datasets(
        schedule.job.get("dataset_id"), model.dataset_id, model.lineage, tx.datasets.exists
    )
    system = {"model_id": model.id, "system": model.reference}
    return DriftJob.from_json({**schedule.spec, **system, **datasets})


def _follow(tx: Transaction, schedule: Schedule, run: ScheduleRun, max_active_jobs: int) -> list[Job]:
    """Start a requested run, or advance a started one by the state of its job."""
    if run.study_id is not None:
        _follow_study(tx, schedule, run, run.study_id)
        return []
    if run.job_id is None:
        return _start(tx, schedule, run, max_active_jobs)
    job_id = run.promotion_job_id or run.job_id
    job = next(iter(tx.jobs.several([job_id])), None)
    if job is None:
        _end(tx, schedule, run, RunStatus.FAILED, f"The job {job_id} was deleted.")
    elif job.status == RUNNING and run.status == RunStatus.QUEUED:
        run.status = RunStatus.TRAINING if job.kind in TRAININGS else RunStatus.RUNNING
    elif job.status in (QUEUED, RUNNING):
        return []
    elif run.promotion_job_id is not None:
        _conclude_promotion(tx, schedule, run, job)
    elif job.status != SUCCEEDED:
        _end(tx, schedule, run, RunStatus.FAILED, _reason(job))
    elif job.kind == IngestClicksJob.kind:
        log_id = str((job.result or {}).get("click_log_id"))
        return _train_on_clicks(tx, schedule, run, log_id, max_active_jobs)
    elif job.kind not in TRAININGS:
        _end(tx, schedule, run, RunStatus.SUCCEEDED, (job.result or {}).get("sentence"))
    else:
        return _conclude_training(tx, schedule, run, job, max_active_jobs)
    return []


def _follow_study(tx: Transaction, schedule: Schedule, run: ScheduleRun, study_id: str) -> None:
    """Advance a run by the state of its study; the study's own job moves the alias."""
    try:
        study = tx.studies.get(study_id)
    except NotFound:
        _end(tx, schedule, run, RunStatus.FAILED, f"The study {study_id} was deleted.")
        return
    if study.status == SUCCEEDED:
        refit = next(iter(tx.jobs.several([study.winner_job_id or study.default_job_id or ""])), None)
        run.model_id = None if refit is None else (refit.result or {}).get("model_id")
        _end(tx, schedule, run, RunStatus.SUCCEEDED, (study.conclusion or {}).get("sentence"))
    elif study.finished_at is not None:
        problem = study.problem or {}
        why = problem.get("detail") or problem.get("title") or "it was cancelled"
        _end(tx, schedule, run, RunStatus.FAILED, f"The study {study_id} {study.status}: {why}")
    else:
        run.status = RunStatus.RUNNING


def _conclude_training(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, job: Job, max_active_jobs: int
) -> list[Job]:
    run.model_id = str((job.result or {}).get("model_id"))
    model = tx.models.several([run.model_id]).get(run.model_id)
    if model is None:
        _end(tx, schedule, run, RunStatus.FAILED, f"The model {run.model_id} was deleted.")
        return []
    if schedule.alias is None:
        _end(tx, schedule, run, RunStatus.TRAINED, f"Trained {model.reference}.")
        return []
    with _limited_to_key(tx, schedule):
        return _promote(tx, schedule, run, model, schedule.alias, max_active_jobs)


def _promote(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, model: Model, alias: str, max_active_jobs: int
) -> list[Job]:
    """Queue the job that moves the alias if its gate admits the model."""
    reference = f"{model.name}@{alias}"
    row, gate = tx.aliases.find_locked(model.name, alias), tx.aliases.find_gate(model.name, alias)
    if gate is None:
        detail = f"{model.reference} was not promoted: the gate of {reference} was deleted; set a gate."
        _end(tx, schedule, run, RunStatus.FAILED, detail)
        return []
    if row is None:
        tx.aliases.move(model.name, alias, model.version, schedule.key_id)
        detail = f"{reference} had no model and was set to {model.reference} without a comparison."
        _end(tx, schedule, run, RunStatus.PROMOTED, detail)
        return []
    systems = System(row.model.reference, row.model.id), System(model.reference, model.id)
    if not _allows_job(tx, schedule, run, f"promote {model.reference}", max_active_jobs):
        return []
    spec = PromoteJob.by_gate(model.name, alias, systems, gate.dataset_id, gate.rule)
    job = tx.enqueue(spec, schedule.key_id, Labels(project=schedule.project))
    run.promotion_job_id, run.status, run.detail = job.id, RunStatus.PROMOTING, None
    return [job]


def _conclude_promotion(tx: Transaction, schedule: Schedule, run: ScheduleRun, job: Job) -> None:
    if job.status == SUCCEEDED:
        _end(tx, schedule, run, RunStatus.PROMOTED, (job.result or {}).get("sentence"))
    elif job.status == REFUSED:
        _end(tx, schedule, run, RunStatus.REFUSED, (job.problem or {}).get("detail"))
    else:
        _end(tx, schedule, run, RunStatus.FAILED, _reason(job))


def _reason(job: Job) -> str:
    problem = job.problem or {}
    return f"The job {job.id} {job.status}: {problem.get('detail') or problem.get('title') or 'unknown'}"


@contextmanager
def _limited_to_key(tx: Transaction, schedule: Schedule) -> Iterator[None]:
    """Restrict the transaction to the objects that the API key of the schedule may read.

    Raises:
        WrongState: The key was revoked or has expired.
    """
    if schedule.key_id is None:
        yield
        return
    key = tx.api_keys.get(schedule.key_id)
    if not is_active(key, utc_now()):
        state = "revoked" if key.revoked_at else "expired"
        raise WrongState(
            _KEY, key.id, state, "the schedule uses this API key; enable the schedule with another key"
        )
    with limited_to(None if key.projects is None else tuple(key.projects)):
        yield


def _end(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, status: RunStatus, detail: str | None
) -> None:
    tx.schedules.finish(run, status, detail)
    if status != RunStatus.SKIPPED:
        fields = {"name": schedule.name, "run_id": run.id, "status": status, "detail": detail}
        results = {"job_id": run.job_id, "model_id": run.model_id, "promotion_job_id": run.promotion_job_id}
        kind = SCHEDULE_FAILED if status == RunStatus.FAILED else SCHEDULE_RAN
        owner = {"project": schedule.project, "key_id": schedule.key_id}
        tx.events.add(kind, "schedule", schedule.id, {**fields, **results}, **owner)
    _LOG.info("schedule.ran", schedule_id=schedule.id, run_id=run.id, status=status, detail=run.detail)


def _disable_after_error(tx: Transaction, schedule_id: str, now: datetime) -> None:
    """Record the unexpected error of a run, and disable the schedule, since it would fail again."""
    schedule = tx.schedules.locked(schedule_id)
    log = "see the log of the worker"
    detail = f"An unexpected error stopped the schedule; {log}. Correct the schedule and enable it."
    run = tx.schedules.active_run(schedule_id)
    if run is None and _is_due(schedule, now):
        run = tx.schedules.add_run(schedule_id, schedule.next_run_at or now, Trigger.CLOCK)
    if run is not None:
        _end(tx, schedule, run, RunStatus.FAILED, detail)
    _disable(schedule, "The schedule cannot be run", detail)


def _fail(tx: Transaction, schedule_id: str, now: datetime, error: RankeryError) -> None:
    """Record a failed run; disable the schedule if its API key was revoked or has expired."""
    schedule = tx.schedules.locked(schedule_id)
    run = tx.schedules.active_run(schedule_id)
    if run is None and _is_due(schedule, now):
        run = _record_due_run(tx, schedule, now)
    if run is not None:
        run.started_at = run.started_at or utc_now()
        _end(tx, schedule, run, RunStatus.FAILED, str(error))
    if isinstance(error, WrongState) and error.kind == _KEY:
        _disable(schedule, "The API key of the schedule has expired or was revoked", str(error))


def _disable(schedule: Schedule, title: str, detail: str) -> None:
    schedule.enabled, schedule.next_run_at = False, None
    schedule.problem = {"title": title, "detail": detail}
