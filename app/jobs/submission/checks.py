"""Checks that several kinds of jobs share."""

from collections.abc import Iterable, Mapping, Sequence

from app.http.pointers import problems_of
from app.jobs.contract_schemas import ContractRequest
from core.data.labels import label_map
from core.errors import InputProblem, InvalidInput, WrongState
from core.losses import Loss
from core.metrics import DEFAULT, Conventions, check_differences, conventions, parse_metric
from core.store import Dataset, Transaction
from core.training.labels import check_job_labels


def repeated_metric_problems(metrics: Sequence[str]) -> Iterable[InputProblem]:
    """Return the problems of metrics that are listed twice."""
    return [
        InputProblem(f"/metrics/{i}", f"{metric!r} is listed twice")
        for i, metric in enumerate(metrics)
        if metric in metrics[:i]
    ]


def metric_problems(pointer: str, metric: str) -> Sequence[InputProblem]:
    """Return the problem of a metric if it is unknown."""
    return problems_of(lambda: parse_metric(metric), pointer)


def compared_metric_problems(pointer: str, metric: str) -> Sequence[InputProblem]:
    """Return the problem of a metric if it is unknown or has no mean difference."""
    return problems_of(lambda: check_differences(metric), pointer)


def label_map_problems(labels: Mapping[str, float]) -> Sequence[InputProblem]:
    """Return the problems of a label map."""
    return problems_of(lambda: label_map(labels))


def conventions_of(requested: str | ContractRequest, problems: list[InputProblem]) -> Conventions:
    """Return the conventions of a requested contract; add its errors to the problems."""
    try:
        return conventions(
            requested if isinstance(requested, str) else requested.model_dump(exclude_none=True)
        )
    except InvalidInput as invalid:
        problems += invalid.below("/contract").problems
        return DEFAULT


def require_ready(tx: Transaction, dataset_ids: Iterable[str]) -> list[Dataset]:
    """Return the datasets, which must be ready.

    Raises:
        NotFound: A dataset does not exist.
        WrongState: A dataset is not ready.
    """
    datasets = [tx.datasets.get(dataset_id) for dataset_id in dataset_ids]
    for dataset in datasets:
        if dataset.status != "ready":
            raise WrongState("dataset", dataset.id, dataset.status, "a job needs it to be ready")
    return datasets


def has_no_features(dataset: Dataset) -> bool:
    """Return whether a dataset holds judgments without features."""
    return (dataset.statistics or {}).get("features") == 0


def check_dataset_labels(
    dataset: Dataset,
    labels: Mapping[str, float],
    loss: Loss | None,
    metrics: Sequence[str],
    contract: Conventions,
) -> None:
    """Refuse labels that a loss or a metric cannot use, by the dataset's statistics.

    Raises:
        InvalidInput: The loss or a metric cannot use the labels.
    """
    if dataset.statistics is not None and "labels" in dataset.statistics:
        check_job_labels(dataset.statistics, label_map(labels), loss, metrics, contract)
