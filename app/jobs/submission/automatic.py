"""Check requests for automatic trainings; the errors are those of `app.jobs.submission.submit`."""

from app.http.pointers import problems_of
from app.jobs.requests.training import AutoTrainRequest
from app.jobs.submission import checks
from core.autotrain.portfolio import portfolio
from core.errors import InputProblem, InvalidInput
from core.jobs.auto_train import AutoTrainJob
from core.store import Dataset, Transaction


def resolve_automatic_training(tx: Transaction, request: AutoTrainRequest) -> AutoTrainJob:
    """Check a request for an automatic training, and return its job specification."""
    problems = [
        *checks.metric_problems("/metric", request.metric),
        *checks.label_map_problems(request.label_map),
        *problems_of(lambda: portfolio(request.candidates)),
    ]
    contract = checks.conventions_of(request.contract, problems)
    if request.test_dataset_id == request.dataset_id:
        problems.append(
            InputProblem("/test_dataset_id", "is the training dataset; test on data the model has not seen")
        )
    if problems:
        raise InvalidInput(*problems)
    dataset, *test = checks.require_ready(tx, filter(None, [request.dataset_id, request.test_dataset_id]))
    _check_trainable(dataset)
    for each in (dataset, *test):
        try:
            checks.check_dataset_labels(each, request.label_map, None, [request.metric], contract)
        except InvalidInput as invalid:
            raise InvalidInput(*(_at_metric_field(problem) for problem in invalid.problems)) from invalid
    return AutoTrainJob.from_json(request.model_dump(mode="json") | {"contract": contract.to_json()})


def _check_trainable(dataset: Dataset) -> None:
    if checks.has_no_features(dataset):
        raise InvalidInput.at("/dataset_id", "has judgments without features; no model can be trained on it")
    if (dataset.statistics or {}).get("queries") == 1:
        raise InvalidInput.at(
            "/dataset_id",
            "has only one query, but an automatic training needs at least two; use train instead",
        )


def _at_metric_field(problem: InputProblem) -> InputProblem:
    return InputProblem(problem.pointer.replace("/metrics/0", "/metric"), problem.detail)
