"""What must hold before a job is queued, so that a worker never starts one that cannot end well."""

from collections.abc import Iterable, Sequence

from app.schemas.base import Json
from app.schemas.jobs import EvaluateRequest, HeldOutDataset, RankDatasetRequest, TrainRequest
from core.errors import InputProblem, InvalidInput, WrongState
from core.metrics import parse_metric
from core.store import Job, Transaction
from core.training import training_spec


def submit(tx: Transaction, request: TrainRequest | EvaluateRequest | RankDatasetRequest) -> Job:
    """Check a job request in full and queue it, its stored spec complete and resolved.

    Raises:
        InvalidInput: For what is wrong with the request by itself.
        NotFound: When a dataset or model it names does not exist.
        WrongState: When a dataset is not ready.
    """
    if isinstance(request, TrainRequest):
        spec, dataset_ids = _train_spec(request), _train_datasets(request)
    else:
        spec = _scoring_spec(tx, request)
        dataset_ids = [request.dataset_id]
    _require_ready(tx, dataset_ids)
    return tx.jobs.add(request.kind, spec, dataset_ids=dataset_ids)


def _train_spec(request: TrainRequest) -> Json:
    spec: Json = request.model_dump(mode="json")
    problems = [*_repeated(request.metrics), *_data_problems(request)]
    if request.early_stopping and request.validation is None:
        problems.append(InputProblem("/early_stopping", "needs validation data to watch; set validation"))
    try:
        parsed = training_spec(spec)
    except InvalidInput as invalid:
        raise InvalidInput(*problems, *invalid.problems) from invalid
    if problems:
        raise InvalidInput(*problems)
    # The metric that stops early is followed even where the request does not list it.
    spec["metrics"] = list(parsed.followed_metrics)
    return spec


def _scoring_spec(tx: Transaction, request: EvaluateRequest | RankDatasetRequest) -> Json:
    if isinstance(request, EvaluateRequest):
        problems = [*_repeated(request.metrics), *_unknown(request.metrics)]
        if problems:
            raise InvalidInput(*problems)
    model = tx.models.resolve(request.model)
    return {**request.model_dump(mode="json"), "model_id": model.id}


def _train_datasets(request: TrainRequest) -> list[str]:
    named = [request.dataset_id, request.test_dataset_id]
    if isinstance(request.validation, HeldOutDataset):
        named.append(request.validation.dataset_id)
    return [dataset_id for dataset_id in named if dataset_id is not None]


def _data_problems(request: TrainRequest) -> Iterable[InputProblem]:
    if isinstance(request.validation, HeldOutDataset) and request.validation.dataset_id == request.dataset_id:
        yield InputProblem(
            "/validation/dataset_id", "is the training dataset; validate on another, or on a fraction of it"
        )
    if request.test_dataset_id == request.dataset_id:
        yield InputProblem("/test_dataset_id", "is the training dataset; test on data the model has not seen")


def _repeated(metrics: Sequence[str]) -> Iterable[InputProblem]:
    return [
        InputProblem(f"/metrics/{i}", f"{metric!r} is listed twice")
        for i, metric in enumerate(metrics)
        if metric in metrics[:i]
    ]


def _unknown(metrics: Sequence[str]) -> Iterable[InputProblem]:
    for i, metric in enumerate(metrics):
        try:
            parse_metric(metric)
        except InvalidInput as invalid:
            yield InputProblem(f"/metrics/{i}", invalid.problems[0].detail)


def _require_ready(tx: Transaction, dataset_ids: Iterable[str]) -> None:
    for dataset_id in dataset_ids:
        dataset = tx.datasets.get(dataset_id)
        if dataset.status != "ready":
            raise WrongState("dataset", dataset_id, dataset.status, "a job needs it to be ready")
