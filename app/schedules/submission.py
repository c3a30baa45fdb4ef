"""Validate schedules before they are stored."""

from collections.abc import Mapping
from dataclasses import asdict

from app.http.pointers import pointers_below, validated
from app.http.schemas import Json
from app.jobs.requests.measuring import DriftRequest
from app.jobs.requests.training import AutoTrainRequest, TrainRequest
from app.jobs.submission.automatic import resolve_automatic_training
from app.jobs.submission.measuring import resolve_drift
from app.jobs.submission.training import resolve_training
from app.schedules.schemas import (
    PromoteRequest,
    ScheduledJob,
    ScheduledStudyRequest,
    ScheduledTrainRequest,
)
from app.studies.requests import StudyRequest
from app.studies.submission import budget_of, study_spec
from core.clicks.reading.options import log_options
from core.errors import InputProblem, InvalidInput
from core.schedules import STUDY, TRAININGS, dataset_names
from core.store import Transaction
from core.store.repositories.models import check_name

# Fields of scheduled jobs that each run replaces.
_REPLACED_FIELDS = ("dataset", "test_dataset", "served_clicks")
# Pointers of fields in requests, with the pointers of the corresponding fields in schedules.
_SCHEDULE_POINTERS = {
    "/dataset_id": "/dataset",
    "/validation/dataset_id": "/validation/dataset",
    "/test_dataset_id": "/test_dataset",
}


def requested_job(request: ScheduledJob, project: str | None) -> Json:
    """Return the requested job of a schedule as JSON, without defaults.

    Raises:
        InvalidInput: The job names another project than that of the schedule.
    """
    if request.project not in (None, project):
        raise InvalidInput.at("/job/project", "must be the project of the schedule; leave it out")
    requested: Json = request.model_dump(mode="json", exclude_unset=True)
    if isinstance(request, ScheduledTrainRequest) and request.hyperparameters.auto:
        requested["hyperparameters"]["auto"] = True
    if isinstance(request, ScheduledStudyRequest):
        if request.base.hyperparameters.auto:
            requested["base"]["hyperparameters"]["auto"] = True
        return requested
    # The dump excludes name, notes, tags and project, which jobs store separately from their specification.
    labels = request.labels()
    requested |= {name: value for name, value in asdict(labels).items() if value}
    return requested


def job_spec(tx: Transaction, requested: Json, project: str | None = None) -> Json:
    """Validate a job as if it were submitted now, with the newest datasets; return its specification.

    Args:
        project: Project of the schedule, whose datasets are used; None for the datasets of all projects.

    Raises:
        InvalidInput: The job is invalid; pointers begin with `/job`.
        NotFound: A model, click log or dataset of the job does not exist.
        WrongState: A dataset or click log is not ready.
    """
    try:
        if requested["kind"] == "drift":
            return resolve_drift(tx, validated(DriftRequest, requested)).to_json()
        body = _body(tx, requested, project)
        if requested["kind"] == STUDY:
            spec = _study(tx, body)
        elif requested["kind"] == "auto-train":
            spec = resolve_automatic_training(tx, validated(AutoTrainRequest, body)).to_json()
        else:
            spec = resolve_training(tx, validated(TrainRequest, body)).to_json()
        tx.projects.claim_name(requested["model_name"], project)
        return spec
    except InvalidInput as invalid:
        problems = (
            InputProblem(_SCHEDULE_POINTERS.get(problem.pointer, problem.pointer), problem.detail)
            for problem in invalid.problems
        )
        raise InvalidInput(*problems).below("/job") from invalid


def check_promotion(tx: Transaction, requested: Json, promote: PromoteRequest | None) -> str | None:
    """Return the alias to promote the models of a schedule to, which must have a gate.

    Raises:
        InvalidInput: The job trains no model, or the alias is not allowed or has no gate.
    """
    if promote is None:
        return None
    if requested["kind"] == STUDY:
        raise InvalidInput.at(
            "/promote", "can only be used for trainings; for a study, set the alias in its job"
        )
    if requested["kind"] not in TRAININGS:
        raise InvalidInput.at("/promote", "can only be used for trainings; remove it")
    name = requested["model_name"]
    check_name(promote.alias, "/promote/alias")
    if tx.aliases.find_gate(name, promote.alias) is None:
        raise InvalidInput.at(
            "/promote/alias",
            f"{name}@{promote.alias} has no gate, which is required to promote new versions automatically;"
            " train a first version if there is none, and set the gate by"
            f" PUT /v1/models/{name}/aliases/{promote.alias}/gate",
        )
    return promote.alias


def _body(tx: Transaction, requested: Json, project: str | None) -> Json:
    """Return the request that a run would submit now."""
    dataset_ids = _newest_ids(tx, dataset_names(requested), project)
    body: Json = {name: value for name, value in requested.items() if name not in _REPLACED_FIELDS}
    if requested.get("served_clicks") is not None:
        _check_clicks(tx, requested)
        body["clicks"] = requested.get("clicks") or {}
    body["dataset_id"] = dataset_ids["train"]
    if "validation" in dataset_ids:
        body["validation"] = {"dataset_id": dataset_ids["validation"]}
    if "test" in dataset_ids:
        body["test_dataset_id"] = dataset_ids["test"]
    return body


def _check_clicks(tx: Transaction, requested: Json) -> None:
    """Validate the served clicks of a training."""
    served = requested["served_clicks"]
    if (requested.get("clicks") or {}).get("log") is not None:
        raise InvalidInput.at(
            "/clicks/log", "cannot be combined with served_clicks, for which each run creates a log"
        )
    if served.get("model"):
        tx.models.resolve(served["model"])
    if served.get("actions"):
        with pointers_below("/served_clicks"):
            log_options({"actions": served["actions"]})


def _study(tx: Transaction, body: Json) -> Json:
    """Validate a study and return its resolved specification, with its budget."""
    requested = {name: value for name, value in body.items() if name != "kind"}
    request = validated(StudyRequest, requested)
    return {
        "kind": STUDY,
        **study_spec(tx, request),
        "budget": asdict(budget_of(request)),
        "parallel_trials": request.parallel_trials,
    }


def _newest_ids(tx: Transaction, names: Mapping[str, str], project: str | None) -> dict[str, str]:
    pointers = {"train": "/dataset", "validation": "/validation/dataset", "test": "/test_dataset"}
    dataset_ids, problems = {}, []
    for role, name in names.items():
        dataset = tx.datasets.newest(name, project)
        if dataset is None:
            scope = "" if project is None else f" in the project {project} or without one"
            detail = f"no dataset named {name!r} is ready{scope}; upload a first one"
            problems.append(InputProblem(pointers[role], detail))
        else:
            dataset_ids[role] = dataset.id
    if problems:
        raise InvalidInput(*problems)
    return dataset_ids
