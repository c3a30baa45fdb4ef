"""Check requests to estimate click models, and to derive judgments from a click log."""

from app.jobs.requests.click_models import ClickModelRequest, JudgeRequest
from app.jobs.submission.checks import has_no_features, require_ready
from core.errors import InvalidInput
from core.jobs.click_models import ClickModelJob
from core.jobs.judge import JudgeJob, judgment_options
from core.store import Transaction


def click_model(tx: Transaction, request: ClickModelRequest) -> ClickModelJob:
    """Check a request to estimate click models, and return its job specification.

    Raises:
        InvalidInput: A model is listed twice.
        NotFound: The log does not exist.
        WrongState: The log is not ready.
    """
    if len(set(request.models)) < len(request.models):
        raise InvalidInput.at("/models", "lists a model twice")
    log = tx.click_logs.ready(request.click_log_id)
    return ClickModelJob.from_json({**request.model_dump(mode="json"), "log_name": log.name})


def judging(tx: Transaction, request: JudgeRequest) -> JudgeJob:
    """Check a request for judgments, record the pending dataset, and return the job specification.

    Raises:
        InvalidInput: The request is invalid.
        NotFound: The log or a dataset does not exist.
        WrongState: The log or a dataset is not ready.
    """
    values = request.model_dump(mode="json")
    judgment_options(values["judgments"])
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
    return JudgeJob.from_json({**values, "dataset_id": dataset.id, "name": dataset.name})
