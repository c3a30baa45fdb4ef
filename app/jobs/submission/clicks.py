"""Check requests on clicks: click models, judgments, propensities, evaluation and simulation.

The errors are those of `app.jobs.submission.submit`.
"""

from app.http.pointers import pointers_below
from app.jobs.requests import clicks as requests
from app.jobs.requests.training import TrainRequest
from app.jobs.submission.checks import has_no_features, require_ready
from app.jobs.submission.measuring import check_features, resolve_systems
from core.clicks.counterfactual import rank_weights
from core.clicks.propensities import FEATURE_METHODS, relative_errors
from core.clicks.users import PRESETS
from core.errors import InputProblem, InvalidInput
from core.jobs import clicks as click_jobs
from core.parameters import values_of
from core.store import Transaction
from core.stored import Json


def resolve_click_model(tx: Transaction, request: requests.ClickModelRequest) -> click_jobs.ClickModelJob:
    """Check a request to estimate click models, and return its job specification."""
    if len(set(request.models)) < len(request.models):
        raise InvalidInput.at("/models", "lists a model twice")
    log = tx.click_logs.ready(request.click_log_id)
    return click_jobs.ClickModelJob.from_json({**request.model_dump(mode="json"), "log_name": log.name})


def resolve_judging(tx: Transaction, request: requests.JudgeRequest) -> click_jobs.JudgeJob:
    """Check a request for judgments, record the pending dataset, and return the job specification."""
    values = request.model_dump(mode="json")
    click_jobs.judgment_options(values["judgments"])
    log = tx.click_logs.ready(request.click_log_id)
    dataset_ids = filter(None, [request.features_dataset_id, request.judged_dataset_id])
    features, *_ = require_ready(tx, dataset_ids)
    if has_no_features(features):
        raise InvalidInput.at("/features_dataset_id", "has judgments without features")
    source_fields = ("click_log_id", "features_dataset_id", "options", "judgments", "unjudged")
    dataset = tx.datasets.add(
        request.dataset_name or log.name,
        {"kind": "clicks", **{name: values[name] for name in source_fields}},
        project=request.project,
    )
    return click_jobs.JudgeJob.from_json({**values, "dataset_id": dataset.id, "name": dataset.name})


def resolve_propensity(tx: Transaction, request: requests.PropensityRequest) -> click_jobs.PropensityJob:
    """Check a request to estimate propensities, and return its job specification."""
    tx.click_logs.ready(request.click_log_id)
    values = request.model_dump(mode="json")
    if values["method"] in FEATURE_METHODS:
        if request.dataset_id is None:
            raise InvalidInput.at("/dataset_id", f"{values['method']} needs the features of the documents")
        (dataset,) = require_ready(tx, [request.dataset_id])
        if has_no_features(dataset):
            raise InvalidInput.at("/dataset_id", "has judgments without features")
    else:
        values["dataset_id"] = None
    return click_jobs.PropensityJob.from_json(values)


def resolve_simulation(
    tx: Transaction, request: requests.SimulateClicksRequest
) -> click_jobs.SimulateClicksJob:
    """Check a request to simulate clicks, record the pending log, and return the job specification."""
    (dataset,) = require_ready(tx, [request.dataset_id])
    # Datasets that earlier releases read have no names; the worker checks theirs.
    absent = set(request.features).difference(dataset.feature_names or request.features)
    if absent:
        raise InvalidInput(
            *(
                InputProblem(f"/features/{i}", f"{name!r} is not a feature of the dataset")
                for i, name in enumerate(request.features)
                if name in absent
            )
        )
    models = [tx.models.resolve(reference) for reference in request.models]
    rankers: list[Json] = [{"system": model.reference, "model_id": model.id} for model in models]
    rankers += [{"system": name, "model_id": None} for name in request.features]
    if not rankers:
        raise InvalidInput.at("/models", "must have at least one model if `features` is empty")
    values = request.model_dump(mode="json")
    users = values["user_model"]
    values["user_model"] = values_of(PRESETS[users]) if isinstance(users, str) else users
    source = {"kind": "simulation", "dataset_id": request.dataset_id, "user_model": users}
    log = tx.click_logs.add(request.log_name, source, project=request.project)
    return click_jobs.SimulateClicksJob.from_json(values | {"click_log_id": log.id, "rankers": rankers})


def with_propensities(tx: Transaction, request: TrainRequest) -> TrainRequest:
    """Return a training request with the propensities of the job that it names, if any.

    The correction `affine` takes the intercepts of the job as well, unless the request has some.
    """
    clicks = request.clicks
    if clicks is None or clicks.propensity_job is None:
        return request
    if clicks.propensities is not None:
        raise InvalidInput.at(
            "/clicks/propensity_job", "cannot be combined with propensities; send only one of them"
        )
    result = tx.jobs.get(clicks.propensity_job).result or {}
    if not result.get("propensities"):
        raise InvalidInput.at(
            "/clicks/propensity_job",
            f"must be a finished job of the kind propensity; {clicks.propensity_job} is not",
        )
    if clicks.correction != "affine" and result.get("intercepts"):
        raise InvalidInput.at(
            "/clicks/propensity_job",
            f"{clicks.propensity_job} was estimated with trust-em, which is for the correction affine only",
        )
    changes = {"propensities": result["propensities"], "propensity_job": None}
    if clicks.correction == "affine" and clicks.intercepts is None:
        if not result.get("intercepts"):
            raise InvalidInput.at(
                "/clicks/propensity_job",
                f"{clicks.propensity_job} has no intercepts; estimate with trust-em, or send intercepts",
            )
        changes["intercepts"] = result["intercepts"]
    return request.model_copy(update={"clicks": clicks.model_copy(update=changes)})


def resolve_counterfactual(
    tx: Transaction, request: requests.CounterfactualRequest
) -> click_jobs.CounterfactualJob:
    """Check a request for a counterfactual evaluation, and return its job specification."""
    estimation = checked_estimation(tx, request)
    systems = resolve_systems(tx, request.systems)
    (dataset,) = require_ready(tx, [request.dataset_id])
    check_features(dataset, systems)
    return click_jobs.CounterfactualJob.from_json({**estimation, "systems": systems})


def checked_estimation(tx: Transaction, request: requests.EstimationRequest) -> Json:
    """Check an estimate from clicks, and return its options with the examination of the named job."""
    with pointers_below("/metric"):
        rank_weights(request.metric)
    options = request.model_dump(mode="json", exclude={"propensity_job", "examination_errors"})
    errors = request.examination_errors
    if request.propensity_job is not None:
        if request.examination is not None or errors is not None:
            raise InvalidInput.at("/propensity_job", "cannot be combined with examination; send only one")
        options["examination"], errors = _estimated_examination(tx, request.propensity_job)
    _check_examination(request, options["examination"], errors)
    if request.normalised and request.estimator in ("examination", "cascade_doubly_robust"):
        raise InvalidInput.at("/normalised", f"{request.estimator} has no self-normalised form")
    log = tx.click_logs.ready(request.click_log_id)
    if request.estimator != "examination" and not (log.statistics or {}).get("has_propensities"):
        detail = "needs a log with propensities; use `examination`, or a log that has them"
        raise InvalidInput.at("/estimator", detail)
    # Workers of the previous release refuse the field.
    return options if errors is None else {**options, "examination_errors": errors}


def _check_examination(
    request: requests.EstimationRequest, examination: list[float] | None, errors: list[float] | None
) -> None:
    needed = request.estimator == "examination"
    if needed != (examination is not None):
        name = "examination" if request.propensity_job is None else "propensity_job"
        detail = "required by the estimator" if needed else f"not used by the estimator {request.estimator}"
        raise InvalidInput.at(f"/{name}", detail)
    if errors is not None and len(errors) != len(examination or ()):
        raise InvalidInput.at("/examination_errors", "must have one error for each rank of examination")


def _estimated_examination(tx: Transaction, job_id: str) -> tuple[list[float], list[float] | None]:
    """Return the propensities of a job, with their errors; propensities of a simulation have no errors."""
    result = tx.jobs.get(job_id).result or {}
    propensities = (result.get("truth") or result).get("propensities")
    if not propensities:
        raise InvalidInput.at(
            "/propensity_job",
            f"must be a finished job of the kind propensity or simulate-clicks; {job_id} is not",
        )
    examination = [min(propensity, 1.0) for propensity in propensities]
    if "truth" in result:
        return examination, None
    if result.get("intercepts"):
        raise InvalidInput.at(
            "/propensity_job",
            f"{job_id} has intercepts: clicks on irrelevant documents, which this estimator counts as"
            " relevance; estimate with a method other than trust-em",
        )
    if not result["lower"]:
        raise InvalidInput.at(
            "/propensity_job",
            f"{job_id} has no intervals, so that the errors of its propensities are unknown; estimate with"
            " resamples, or send examination",
        )
    return examination, relative_errors(result["lower"], result["upper"])
