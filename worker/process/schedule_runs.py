"""Start the runs of schedules, follow their jobs and promote their models."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

import structlog

from core.errors import JobQuotaExceeded, NotFound, WrongState
from core.events import SCHEDULE_FAILED, SCHEDULE_RAN
from core.jobs import JobSpec, System
from core.jobs.base import FAILED, QUEUED, REFUSED, RUNNING, SUCCEEDED
from core.jobs.drift import DriftJob
from core.jobs.ingest import IngestClicksJob
from core.jobs.promote import PromoteJob
from core.schedules import STUDY, TRAININGS, dataset_names, study_of_run, training_of_run
from core.store import Job, Model, Schedule, ScheduleRun, Transaction
from core.store.clock import utc_now
from core.store.repositories.api_keys import is_active
from core.store.repositories.projects import Labels
from core.store.repositories.schedules import RunStatus, Trigger
from core.store.served_logs import CLICK_WINDOW, ServedPeriod, queue_served_log
from core.store.visibility import limited_to
from core.stored import Stored
from core.studies import Budget

KEY = "API key"
SERVED_DAYS = 30.0  # default days of served clicks that a run trains on
_LOG = structlog.stdlib.get_logger(__name__)


def start(tx: Transaction, schedule: Schedule, run: ScheduleRun, max_active_jobs: int) -> list[Job]:
    """Queue the job or study of a run on the newest datasets; none while the quota of its key is used up.

    Raises:
        InvalidInput: The job is invalid for the present datasets and models.
        JobQuotaTooSmall: The quota of the key is smaller than the run.
        NotFound: A dataset or model that it needs was deleted.
        WrongState: The API key of the schedule was revoked or has expired.
    """
    with _limited_to_key(tx, schedule):
        run.datasets = datasets = _newest_datasets(tx, schedule)
        clicks = schedule.job.get("served_clicks")
        if schedule.only_new_data and datasets and run.trigger == Trigger.CLOCK and clicks is None:
            last = tx.schedules.last_run_with_job(schedule.id)
            if last is not None and last.datasets == datasets:
                detail = f"No new data: the run {last.id} used the same datasets."
                end(tx, schedule, run, RunStatus.SKIPPED, detail)
                return []
        study = schedule.spec["kind"] == STUDY
        n_jobs = schedule.spec["parallel_trials"] if study else 1
        if not _allows_jobs(tx, schedule, run, "start", max_active_jobs, n_jobs):
            return []
        run.started_at, run.detail = utc_now(), None
        if study:
            return _start_study(tx, schedule, run)
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
        end(tx, schedule, run, RunStatus.FAILED, detail)
        return []
    with _limited_to_key(tx, schedule):
        if not _allows_jobs(tx, schedule, run, "train on the clicks", max_active_jobs):
            return []
        run.datasets = _newest_datasets(tx, schedule)  # the schedule may name other datasets by now
        spec = _spec_of_run(tx, schedule, run.datasets, log_id)
        job = tx.enqueue(spec, schedule.key_id, _labels(schedule))
    run.job_id, run.status, run.detail = job.id, RunStatus.QUEUED, None
    return [job]


def _allows_jobs(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, purpose: str, max_active_jobs: int, adding: int = 1
) -> bool:
    """Return whether the quota of the key allows the next jobs of a run, which else waits."""
    try:
        tx.quotas.allow_jobs(schedule.key_id, max_active_jobs, adding)
    except JobQuotaExceeded as full:
        bound = full.bound - adding + 1
        run.detail = f"Waits to {purpose} until fewer than {bound:,} jobs of its API key wait or run."
        return False
    return True


def _start_study(tx: Transaction, schedule: Schedule, run: ScheduleRun) -> list[Job]:
    """Submit the study of a run, and return the jobs of its first trials."""
    statistics = tx.datasets.get(run.datasets["train"]).statistics
    spec = study_of_run(schedule.spec, schedule.job, run.datasets, statistics)
    budget, parallel = Budget(**spec.pop("budget")), spec.pop("parallel_trials")
    study = tx.studies.add(spec, budget, parallel, schedule.key_id, schedule.project)
    run.study_id = study.id
    return tx.jobs.get_many(tx.studies.active_jobs(study.id))


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


def follow(tx: Transaction, schedule: Schedule, run: ScheduleRun, max_active_jobs: int) -> list[Job]:
    """Start a requested run, or advance a started one by the state of its job."""
    if run.study_id is not None:
        _follow_study(tx, schedule, run, run.study_id)
        return []
    if run.job_id is None:
        return start(tx, schedule, run, max_active_jobs)
    job_id = run.promotion_job_id or run.job_id
    job = next(iter(tx.jobs.get_many([job_id])), None)
    if job is None:
        end(tx, schedule, run, RunStatus.FAILED, f"The job {job_id} was deleted.")
    elif job.status == RUNNING and run.status == RunStatus.QUEUED:
        run.status = RunStatus.TRAINING if job.kind in TRAININGS else RunStatus.RUNNING
    elif job.status in (QUEUED, RUNNING):
        return []
    elif run.promotion_job_id is not None:
        return _conclude_promotion(tx, schedule, run, job, max_active_jobs)
    elif job.status != SUCCEEDED:
        end(tx, schedule, run, RunStatus.FAILED, _reason(job))
    elif job.kind == IngestClicksJob.kind:
        log_id = str((job.result or {}).get("click_log_id"))
        return _train_on_clicks(tx, schedule, run, log_id, max_active_jobs)
    elif job.kind not in TRAININGS:
        end(tx, schedule, run, RunStatus.SUCCEEDED, (job.result or {}).get("sentence"))
    else:
        return _conclude_training(tx, schedule, run, job, max_active_jobs)
    return []


def _follow_study(tx: Transaction, schedule: Schedule, run: ScheduleRun, study_id: str) -> None:
    """Advance a run by the state of its study; the study's own job moves the alias."""
    try:
        study = tx.studies.get(study_id)
    except NotFound:
        end(tx, schedule, run, RunStatus.FAILED, f"The study {study_id} was deleted.")
        return
    if study.status == SUCCEEDED:
        refit = next(iter(tx.jobs.get_many([study.winner_job_id or study.default_job_id or ""])), None)
        run.model_id = None if refit is None else (refit.result or {}).get("model_id")
        end(tx, schedule, run, RunStatus.SUCCEEDED, (study.conclusion or {}).get("sentence"))
    elif study.finished_at is not None:
        problem = study.problem or {}
        why = problem.get("detail") or problem.get("title") or "it was cancelled"
        end(tx, schedule, run, RunStatus.FAILED, f"The study {study_id} {study.status}: {why}")
    else:
        run.status = RunStatus.RUNNING


def _conclude_training(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, job: Job, max_active_jobs: int
) -> list[Job]:
    run.model_id = str((job.result or {}).get("model_id"))
    model = tx.models.get_many([run.model_id]).get(run.model_id)
    if model is None:
        end(tx, schedule, run, RunStatus.FAILED, f"The model {run.model_id} was deleted.")
        return []
    if schedule.alias is None:
        end(tx, schedule, run, RunStatus.TRAINED, f"Trained {model.reference}.")
        return []
    with _limited_to_key(tx, schedule):
        return _promote(tx, schedule, run, model, schedule.alias, max_active_jobs)


def _promote(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, model: Model, alias: str, max_active_jobs: int
) -> list[Job]:
    """Queue the job that moves the alias if its gate admits the model.

    The run waits while another job may move the alias, so that the model is compared with the version after.
    """
    reference = f"{model.name}@{alias}"
    row, gate = tx.aliases.find_locked(model.name, alias), tx.aliases.find_gate(model.name, alias)
    if gate is None:
        detail = f"{model.reference} was not promoted: the gate of {reference} was deleted; set a gate."
        end(tx, schedule, run, RunStatus.FAILED, detail)
        return []
    if row is None:
        tx.aliases.move(model.name, alias, model.version, schedule.key_id)
        detail = f"{reference} had no model and was set to {model.reference} without a comparison."
        end(tx, schedule, run, RunStatus.PROMOTED, detail)
        return []
    if row.model_id == model.id:
        end(tx, schedule, run, RunStatus.PROMOTED, f"{reference} was moved to {model.reference} meanwhile.")
        return []
    if (other := tx.aliases.active_promotion(model.name, alias)) is not None:
        run.detail = f"Waits to promote {model.reference} until the promotion {other.id} has ended."
        return []
    systems = System(row.model.reference, row.model.id), System(model.reference, model.id)
    if not _allows_jobs(tx, schedule, run, f"promote {model.reference}", max_active_jobs):
        return []
    spec = PromoteJob.by_gate(model.name, alias, systems, gate.dataset_id, gate.rule)
    job = tx.enqueue(spec, schedule.key_id, Labels(project=schedule.project))
    run.promotion_job_id, run.status, run.detail = job.id, RunStatus.PROMOTING, None
    return [job]


def _conclude_promotion(
    tx: Transaction, schedule: Schedule, run: ScheduleRun, job: Job, max_active_jobs: int
) -> list[Job]:
    """End a run by the outcome of its promotion; repeat the comparison if the alias was moved meanwhile."""
    if job.status == SUCCEEDED:
        end(tx, schedule, run, RunStatus.PROMOTED, (job.result or {}).get("sentence"))
    elif job.status == REFUSED:
        end(tx, schedule, run, RunStatus.REFUSED, (job.problem or {}).get("detail"))
    elif job.status == FAILED and _was_moved(tx, job.spec):
        run.promotion_job_id = None
        return follow(tx, schedule, run, max_active_jobs)
    else:
        end(tx, schedule, run, RunStatus.FAILED, _reason(job))
    return []


def _was_moved(tx: Transaction, promotion: Stored) -> bool:
    """Return whether an alias is at another version than the one that a promotion compared."""
    row = tx.aliases.find(promotion["model_name"], promotion["alias"])
    return row is not None and row.model_id != promotion["systems"][0]["model_id"]


def _reason(job: Job) -> str:
    problem = job.problem or {}
    return f"The job {job.id} {job.status}: {problem.get('detail') or problem.get('title') or 'unknown'}"


@contextmanager
def _limited_to_key(tx: Transaction, schedule: Schedule) -> Iterator[None]:
    """Restrict the transaction to the objects that the API key of the schedule may read."""
    if schedule.key_id is None:
        yield
        return
    key = tx.api_keys.get(schedule.key_id)
    if not is_active(key, utc_now()):
        state = "revoked" if key.revoked_at else "expired"
        raise WrongState(
            KEY, key.id, state, "the schedule uses this API key; enable the schedule with another key"
        )
    with limited_to(None if key.projects is None else tuple(key.projects)):
        yield


def end(tx: Transaction, schedule: Schedule, run: ScheduleRun, status: RunStatus, detail: str | None) -> None:
    """End a run, with an event unless it was skipped."""
    tx.schedules.finish(run, status, detail)
    if status != RunStatus.SKIPPED:
        fields = {"name": schedule.name, "run_id": run.id, "status": status, "detail": detail}
        results = {"job_id": run.job_id, "model_id": run.model_id, "promotion_job_id": run.promotion_job_id}
        kind = SCHEDULE_FAILED if status == RunStatus.FAILED else SCHEDULE_RAN
        owner = {"project": schedule.project, "key_id": schedule.key_id}
        tx.events.add(kind, "schedule", schedule.id, {**fields, **results}, **owner)
    _LOG.info("schedule.ran", schedule_id=schedule.id, run_id=run.id, status=status, detail=run.detail)
