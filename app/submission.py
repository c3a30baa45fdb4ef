"""What must hold before a job is queued, so that a worker never starts one that cannot end well."""

from collections.abc import Iterable, Mapping, Sequence

from app.schemas.base import Json
from app.schemas.jobs import (
    EvaluateRequest,
    HeldOutColumn,
    HeldOutDataset,
    HeldOutFold,
    RankDatasetRequest,
    TrainRequest,
)
from core.data.labels import label_map
from core.errors import InputProblem, InvalidInput, WrongState
from core.losses import Loss
from core.metrics import parse_metric
from core.store import Dataset, Job, Transaction
from core.training import TrainingSpec, training_spec
from core.training.labels import check_job_labels


def submit(tx: Transaction, request: TrainRequest | EvaluateRequest | RankDatasetRequest) -> Job:
    """Check a job request in full and queue it, its stored spec complete and resolved.

    Raises:
        InvalidInput: For what is wrong with the request by itself.
        NotFound: When a dataset or model it names does not exist.
        WrongState: When a dataset is not ready.
    """
    if isinstance(request, TrainRequest):
        parsed = _parsed(request)
        spec, dataset_ids = _train_spec(request, parsed), _train_datasets(request)
        datasets = _require_ready(tx, dataset_ids)
        _check_parts(request, datasets[0])
        for dataset in datasets:
            loss = parsed.loss if dataset is datasets[0] else None
            _check_labels(dataset, request.label_map, loss, parsed.followed_metrics)
    else:
        spec = _scoring_spec(tx, request)
        dataset_ids = [request.dataset_id]
        (dataset,) = _require_ready(tx, dataset_ids)
        if isinstance(request, EvaluateRequest):
            _check_labels(dataset, request.label_map, None, request.metrics)
    return tx.jobs.add(request.kind, spec, dataset_ids=dataset_ids)


def _parsed(request: TrainRequest) -> TrainingSpec:
    problems = [*_repeated(request.metrics), *_data_problems(request), *_map_problems(request.label_map)]
    if request.early_stopping and request.validation is None:
        problems.append(InputProblem("/early_stopping", "needs validation data to watch; set validation"))
    try:
        parsed = training_spec(request.model_dump(mode="json"))
    except InvalidInput as invalid:
        raise InvalidInput(*problems, *invalid.problems) from invalid
    if problems:
        raise InvalidInput(*problems)
    return parsed


def _train_spec(request: TrainRequest, parsed: TrainingSpec) -> Json:
    # The metric that stops early is followed even where the request does not list it.
    return {**request.model_dump(mode="json"), "metrics": list(parsed.followed_metrics)}


def _scoring_spec(tx: Transaction, request: EvaluateRequest | RankDatasetRequest) -> Json:
    if isinstance(request, EvaluateRequest):
        problems = [
            *_repeated(request.metrics),
            *_unknown(request.metrics),
            *_map_problems(request.label_map),
        ]
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
    if request.test is not None and request.test_dataset_id is not None:
        yield InputProblem("/test", "holds part of the training dataset out; leave test_dataset_id out then")
    for name, part in (("validation", request.validation), ("test", request.test)):
        if isinstance(part, HeldOutFold) and part.fold > part.folds:
            yield InputProblem(f"/{name}/fold", f"must be at most folds, {part.folds}")


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


def _map_problems(labels: Mapping[str, float]) -> Iterable[InputProblem]:
    try:
        label_map(labels)
    except InvalidInput as invalid:
        return invalid.problems
    return ()


def _require_ready(tx: Transaction, dataset_ids: Iterable[str]) -> list[Dataset]:
    datasets = [tx.datasets.get(dataset_id) for dataset_id in dataset_ids]
    for dataset in datasets:
        if dataset.status != "ready":
            raise WrongState("dataset", dataset.id, dataset.status, "a job needs it to be ready")
    return datasets


def _check_parts(request: TrainRequest, dataset: Dataset) -> None:
    """Refuse what cannot be held out of a dataset, as far as its statistics tell."""
    statistics = dataset.statistics or {}
    columns: Mapping[str, list[Json]] = statistics.get("query_columns") or {}
    problems = []
    for name, part in (("validation", request.validation), ("test", request.test)):
        if isinstance(part, HeldOutFold) and part.folds > statistics.get("queries", part.folds):
            problems.append(
                InputProblem(f"/{name}/folds", f"the dataset has {statistics['queries']} queries")
            )
        if isinstance(part, HeldOutColumn) and part.column not in columns:
            known = f"it has {', '.join(columns)}" if columns else "its queries have none"
            problems.append(
                InputProblem(f"/{name}/column", f"the dataset has no such column of queries; {known}")
            )
    if problems:
        raise InvalidInput(*problems)


def _check_labels(
    dataset: Dataset, labels: Mapping[str, float], loss: Loss | None, metrics: Sequence[str]
) -> None:
    if dataset.statistics is not None and "labels" in dataset.statistics:
        check_job_labels(dataset.statistics, label_map(labels), loss, metrics)
