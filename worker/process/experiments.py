"""Advance experiments: queue their trainings, and a report when these have ended."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import structlog

from core.errors import InvalidInput, NotFound, RankeryError, StoreUnavailable, WrongState
from core.experiments import Plan, Run
from core.experiments.datasets import check_datasets, with_label_map
from core.experiments.paper import MAIN
from core.experiments.plan import spec_digest
from core.jobs import System
from core.jobs.base import ACTIVE, SUCCEEDED
from core.jobs.measuring import EvaluateJob, Measures
from core.jobs.study import ReportJob
from core.jobs.train import GRID_TAG, TrainJob
from core.losses import loss_values
from core.metrics import conventions
from core.store import Dataset, Experiment, ExperimentTraining, Job, Store, Transaction
from core.store.repositories.experiments import ACTIVE_EXPERIMENTS, ExperimentStatus, TrainingState
from core.store.repositories.projects import Labels
from core.stored import read_entries
from core.training import training_spec
from worker.job.experiments import corpus_of, measured_runs, plan_of, recognitions

# Limit of active trainings of an experiment; more would only lengthen the queue.
MAX_ACTIVE_TRAININGS = 32
_LOG = structlog.stdlib.get_logger(__name__)

# Datasets of an experiment by fold, name and part.
Parts = Mapping[tuple[int, str, str], Dataset]


def advance_all(store: Store) -> list[Job]:
    """Advance all experiments that have not ended; return the queued jobs."""
    with store.read() as tx:
        active = tx.experiments.active()
    return [job for experiment_id in active for job in _advance_one(store, experiment_id)]


def _advance_one(store: Store, experiment_id: str) -> list[Job]:
    try:
        with store.begin() as tx:
            return advance(tx, experiment_id)
    except StoreUnavailable:
        raise
    except RankeryError as error:
        _LOG.warning("experiment.failed", experiment_id=experiment_id, exc_info=True)
        _fail(store, experiment_id, str(error))
    except Exception:  # noqa: BLE001 - an error of one experiment must not stop the others and the sweep
        _LOG.exception("experiment.unexpected_error", experiment_id=experiment_id)
        detail = "An unexpected error stopped the experiment; see the log of the worker, then resume it."
        _fail(store, experiment_id, detail)
    return []


def _fail(store: Store, experiment_id: str, detail: str) -> None:
    """End an experiment with a problem, unless it was cancelled or deleted meanwhile."""
    problem = {"title": "The experiment cannot continue", "detail": detail}
    with suppress(NotFound), store.begin() as tx:
        experiment = tx.experiments.locked(experiment_id)
        if experiment.status in ACTIVE_EXPERIMENTS:
            tx.experiments.finish(experiment, ExperimentStatus.FAILED, problem=problem)


def advance(tx: Transaction, experiment_id: str) -> list[Job]:
    """Queue the next jobs of an experiment; none while it waits for active jobs.

    Raises:
        InvalidInput: The plan is invalid for the datasets.
        NotFound: A dataset was deleted.
        WrongState: A dataset cannot be read.
    """
    experiment = tx.experiments.locked(experiment_id)
    queued: list[Job] = []
    if experiment.status == ExperimentStatus.PREPARING:
        parts = _ready_datasets(tx, experiment)
        if parts is None:
            return []
        _plan_trainings(tx, experiment, parts)
        experiment.status = ExperimentStatus.RUNNING
    if experiment.status == ExperimentStatus.RUNNING:
        queued += _queue_trainings(tx, experiment)
        queued += _queue_evaluations(tx, experiment)
        queued += _queue_report(tx, experiment)
    elif experiment.status == ExperimentStatus.REPORTING and experiment.report_job_id is not None:
        report = tx.jobs.get(experiment.report_job_id)
        if report.status not in (*ACTIVE, SUCCEEDED):
            tx.experiments.finish(experiment, ExperimentStatus.FAILED, problem=report.problem)
    return queued


def _ready_datasets(tx: Transaction, experiment: Experiment) -> Parts | None:
    """Return the datasets of an experiment, None while one of them is not ready."""
    rows = {
        (each["fold"], each["name"], each["part"]): tx.datasets.get(each["dataset_id"])
        for each in experiment.datasets
    }
    for row in rows.values():
        if row.status == "invalid":
            raise WrongState("dataset", row.id, row.status, "an experiment needs datasets that are ready")
    return rows if all(row.status == "ready" for row in rows.values()) else None


def _plan_trainings(tx: Transaction, experiment: Experiment, parts: Parts) -> None:
    if tx.experiments.trainings(experiment.id):
        return  # the experiment was resumed
    experiment.corpus = corpus_of(experiment.paper, recognitions(tx, experiment))
    planned = plan_of(experiment)
    runs = (
        [short for short, _ in measured_runs(planned).values()]
        if experiment.dry_run
        else list(planned.runs.values())
    )
    rows = _rows_of_runs(planned)
    # Folds have equal sizes, so one fold is enough to measure the time.
    folds = experiment.folds[:1] if experiment.dry_run else experiment.folds
    for fold in folds or [0]:
        for index, planned_run in enumerate(runs):
            run_datasets = {
                part: row for (number, name, part), row in parts.items() if (number, name) == (fold, MAIN)
            }
            statistics = {part: row.statistics or {} for part, row in run_datasets.items()}
            check_datasets([planned_run], statistics)
            run = with_label_map(planned_run, statistics)
            tags = {GRID_TAG: experiment.id, "method": rows[run.digest]}
            tags |= {"fold": str(fold)} if fold else {}
            tx.experiments.add_training(
                experiment.id,
                digest=run.digest,
                fold=fold,
                place=index,
                sharing_key=sharing_key(run, run_datasets),
                spec=_training(experiment, run, run_datasets, tags).to_json(),
                needs_training_values="train" in run.parts,
            )


def sharing_key(run: Run, parts: Mapping[str, Dataset]) -> str:
    """Return the digest of a training's specification and of the contents of its datasets."""
    return spec_digest(run.spec, {part: row.digest or row.id for part, row in sorted(parts.items())})


def _rows_of_runs(planned: Plan) -> dict[str, str]:
    """Return the first table row of each run, by digest."""
    rows: dict[str, str] = {}
    for cell in planned.cells:
        for digest in cell.runs:
            rows.setdefault(digest, cell.row)
    return rows


def _training(
    experiment: Experiment, run: Run, parts: Mapping[str, Dataset], tags: Mapping[str, str]
) -> TrainJob:
    """Return the complete specification of a training."""
    if "train" not in parts:
        raise InvalidInput.at("/dataset_ids", "has no training part")
    contract = conventions(run.spec.get("contract"))
    body = {**run.spec, "contract": contract.to_json()}
    parsed = training_spec(body)
    validation, test = parts.get("validation"), parts.get("test")
    return TrainJob.from_json(
        {
            **body,
            "model_name": _model_name(experiment),
            "tags": dict(tags),
            "dataset_id": parts["train"].id,
            "validation": validation and {"dataset_id": validation.id},
            "test_dataset_id": test and test.id,
            "loss": loss_values(parsed.loss),
            "metrics": list(parsed.all_metrics),
        }
    )


def _model_name(experiment: Experiment) -> str:
    """Return the name of the models of a paper, which differs between projects."""
    return experiment.paper if experiment.project is None else f"{experiment.paper}.{experiment.project}"


def _labels(experiment: Experiment) -> Labels:
    return Labels(project=experiment.project)


def _queue_trainings(tx: Transaction, experiment: Experiment) -> list[Job]:
    queued = []
    states = tx.experiments.trainings(experiment.id)
    active = sum(state.job is not None and state.job.status in ACTIVE for state in states)
    waiting = [state.row for state in states if state.job is None]
    shareable = tx.experiments.shareable((row.sharing_key for row in waiting), experiment.project)
    for row in waiting:
        others = shareable[row.sharing_key]
        shared = _shared_job(row, others)
        if shared is not None:
            row.job_id, row.is_shared = shared, True
        elif active < MAX_ACTIVE_TRAININGS:
            spec = TrainJob.from_json(row.spec)
            job = tx.enqueue(spec, experiment.key_id, Labels(tags=spec.tags, project=experiment.project))
            row.job_id = job.id
            others.insert(0, row)
            queued.append(job)
            active += 1
    return queued


def _shared_job(training: ExperimentTraining, others: Sequence[ExperimentTraining]) -> str | None:
    """Return the id of another training's job with the same model and at least the same metrics, or None."""
    spec = training.spec
    for other in others:
        same_diagnostics = spec.get("diagnostics") in (None, other.spec.get("diagnostics"))
        if same_diagnostics and set(spec["metrics"]) <= set(other.spec["metrics"]):
            return other.job_id
    return None


def _queue_evaluations(tx: Transaction, experiment: Experiment) -> list[Job]:
    """Queue evaluations on the training data, which training jobs do not do."""
    queued = []
    waiting = [
        (state.row, state.job)
        for state in tx.experiments.trainings(experiment.id)
        if state.row.needs_training_values
        and state.row.evaluation_job_id is None
        and state.job is not None
        and state.job.status == SUCCEEDED
    ]
    shareable = tx.experiments.shareable((row.sharing_key for row, _ in waiting), experiment.project)
    for row, training in waiting:
        earlier = _earlier_evaluation(tx, row, shareable[row.sharing_key])
        if earlier is not None:
            row.evaluation_job_id = earlier
            continue
        model = tx.models.get(str((training.result or {})["model_id"]))
        spec = EvaluateJob(
            system=System(model.reference, model_id=model.id),
            dataset_id=row.spec["dataset_id"],
            measures=read_entries(Measures, row.spec),
            priority="low",
        )
        job = tx.enqueue(spec, experiment.key_id, _labels(experiment))
        row.evaluation_job_id = job.id
        queued.append(job)
    return queued


def _earlier_evaluation(
    tx: Transaction, training: ExperimentTraining, others: Sequence[ExperimentTraining]
) -> str | None:
    metrics = set(training.spec["metrics"])
    for other in others:
        if (
            other.job_id == training.job_id
            and other.evaluation_job_id
            and metrics <= set(other.spec["metrics"])
        ):
            job = tx.jobs.get(other.evaluation_job_id)
            if job.status in (*ACTIVE, SUCCEEDED):
                return job.id
    return None


def _queue_report(tx: Transaction, experiment: Experiment) -> list[Job]:
    """Queue the last report when all trainings have ended, and earlier reports as tables become complete."""
    if experiment.report_job_id and tx.jobs.get(experiment.report_job_id).status in ACTIVE:
        return []
    states = tx.experiments.trainings(experiment.id)
    is_last = all(state.has_ended for state in states)
    complete = 0 if experiment.dry_run else _complete_tables(plan_of(experiment), states)
    if not is_last and complete <= experiment.reported_tables:
        return []
    spec = ReportJob(
        experiment_id=experiment.id, paper=experiment.paper, is_last=is_last, complete_tables=complete
    )
    job = tx.enqueue(spec, experiment.key_id, _labels(experiment))
    experiment.report_job_id, experiment.reported_tables = job.id, complete
    if is_last:
        experiment.status = ExperimentStatus.REPORTING
    return [job]


def _complete_tables(planned: Plan, states: Sequence[TrainingState]) -> int:
    """Count the tables whose trainings have all ended."""
    unfinished = {state.row.digest for state in states if not state.has_ended}
    waiting = {cell.table for cell in planned.cells if unfinished.intersection(cell.runs)}
    return len(planned.tables) - len(waiting)
