"""What every kind of job is held against."""

from collections.abc import Iterable, Mapping, Sequence

from app.jobs.contract_schemas import ContractRequest
from core.data.labels import label_map
from core.errors import InputProblem, InvalidInput, WrongState
from core.losses import Loss, check_combination
from core.metrics import DEFAULT, Conventions, check_differences, conventions, parse_metric
from core.store import Dataset, Transaction
from core.training.labels import check_job_labels


def repeated_metrics(metrics: Sequence[str]) -> Iterable[InputProblem]:
    """Find the metrics that are listed before."""
    return [
        InputProblem(f"/metrics/{i}", f"{metric!r} is listed twice")
        for i, metric in enumerate(metrics)
        if metric in metrics[:i]
    ]


def unknown_metrics(metrics: Sequence[str]) -> Iterable[InputProblem]:
    """Find the metrics that there are not."""
    for i, metric in enumerate(metrics):
        yield from unknown_metric(f"/metrics/{i}", metric)


def unknown_metric(pointer: str, metric: str) -> Iterable[InputProblem]:
    """Find out whether there is a metric."""
    try:
        parse_metric(metric)
    except InvalidInput as invalid:
        yield InputProblem(pointer, invalid.problems[0].detail)


def metric_without_differences(pointer: str, metric: str) -> Iterable[InputProblem]:
    """Find out whether a metric is unknown, or its differences between systems cannot be averaged."""
    try:
        check_differences(metric)
    except InvalidInput as invalid:
        yield InputProblem(pointer, invalid.problems[0].detail)


def label_map_problems(labels: Mapping[str, float]) -> Iterable[InputProblem]:
    """Find what is wrong with a map of labels."""
    try:
        label_map(labels)
    except InvalidInput as invalid:
        return invalid.problems
    return ()


def idle_problems(loss: Loss, pointer: str) -> Iterable[InputProblem]:
    """Find the hyperparameters of a loss that are set and change nothing beside the others."""
    try:
        check_combination(loss)
    except InvalidInput as invalid:
        return invalid.below(pointer).problems
    return ()


def contract_of(given: str | ContractRequest, problems: list[InputProblem]) -> Conventions:
    """Resolve a contract; what is wrong with it joins the problems."""
    try:
        return conventions(given if isinstance(given, str) else given.model_dump(exclude_none=True))
    except InvalidInput as invalid:
        problems += invalid.below("/contract").problems
        return DEFAULT


def require_ready(tx: Transaction, dataset_ids: Iterable[str]) -> list[Dataset]:
    """Return the datasets.

    Raises:
        NotFound: One does not exist.
        WrongState: One is not ready.
    """
    datasets = [tx.datasets.get(dataset_id) for dataset_id in dataset_ids]
    for dataset in datasets:
        if dataset.status != "ready":
            raise WrongState("dataset", dataset.id, dataset.status, "a job needs it to be ready")
    return datasets


def is_bare(dataset: Dataset) -> bool:
    """Tell whether a dataset holds judgments without features."""
    return (dataset.statistics or {}).get("features") == 0


def check_dataset_labels(
    dataset: Dataset,
    labels: Mapping[str, float],
    loss: Loss | None,
    metrics: Sequence[str],
    contract: Conventions,
) -> None:
    """Refuse labels that a loss or a metric cannot use, as far as the statistics tell.

    Raises:
        InvalidInput: They cannot be used.
    """
    if dataset.statistics is not None and "labels" in dataset.statistics:
        check_job_labels(dataset.statistics, label_map(labels), loss, metrics, contract)
