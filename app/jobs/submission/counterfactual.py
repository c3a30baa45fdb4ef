"""Check requests for counterfactual evaluations."""

from app.jobs.requests.counterfactual import CounterfactualRequest, EstimationRequest
from app.jobs.submission.checks import require_ready
from app.jobs.submission.measuring import check_features, systems_named
from core.clicks.counterfactual import rank_weights
from core.errors import InvalidInput
from core.jobs.counterfactual import CounterfactualJob
from core.store import Transaction


def counterfactual(tx: Transaction, request: CounterfactualRequest) -> CounterfactualJob:
    """Check a request for a counterfactual evaluation, and return its job specification.

    Raises:
        InvalidInput: The request is invalid.
        NotFound: The log, the dataset, a model or a ranking does not exist.
        WrongState: The log or the dataset is not ready.
    """
    check_estimation(tx, request)
    systems = systems_named(tx, request.systems)
    (dataset,) = require_ready(tx, [request.dataset_id])
    check_features(dataset, systems)
    return CounterfactualJob.from_json({**request.model_dump(mode="json"), "systems": systems})


def check_estimation(tx: Transaction, request: EstimationRequest) -> None:
    """Check the metric and the options of an estimator, and whether the log has the propensities it needs.

    Raises:
        InvalidInput: The metric or an option is invalid, or the log lacks propensities.
        NotFound: The log does not exist.
        WrongState: The log is not ready.
    """
    _check_metric(request.metric)
    needs_examination = request.estimator == "examination"
    if needs_examination != (request.examination is not None):
        problem = (
            "required by the estimator"
            if needs_examination
            else f"cannot be used with the estimator {request.estimator}"
        )
        raise InvalidInput.at("/examination", problem)
    if request.normalised and request.estimator in ("examination", "cascade_doubly_robust"):
        raise InvalidInput.at("/normalised", f"{request.estimator} has no self-normalised form")
    log = tx.click_logs.ready(request.click_log_id)
    if not needs_examination and not (log.statistics or {}).get("has_propensities"):
        detail = "needs a log with propensities; use `examination`, or a log that has them"
        raise InvalidInput.at("/estimator", detail)


def _check_metric(metric: str) -> None:
    try:
        rank_weights(metric)
    except InvalidInput as invalid:
        raise InvalidInput.at("/metric", invalid.problems[0].detail) from invalid
