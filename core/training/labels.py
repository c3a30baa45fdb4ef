"""Check the labels of a dataset against the loss and metrics of a job, before it runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.data.labels import LabelMap, LabelRange, map_range
from core.errors import InputProblem, InvalidInput
from core.losses import Loss
from core.metrics import DEFAULT, Conventions, parse_metric


def check_labels(
    label_range: LabelRange, loss: Loss | None, metrics: Sequence[str], conventions: Conventions = DEFAULT
) -> None:
    """Refuse labels that a loss or a metric cannot use.

    Args:
        label_range: The range of the labels after the label map of the job.
        loss: The loss, or None where nothing is trained on these labels.
        metrics: Spellings of the metrics, `ndcg@10`.
        conventions: Their contract.

    Raises:
        InvalidInput: At `/label_map` for labels that nothing can use; else at the hyperparameter of the loss,
            such as `/loss/gain`, and at each metric, `/metrics/0`, that conflicts with them.
    """
    label_range.check()
    labels = label_range.representatives()
    problems: list[InputProblem] = []
    if loss is not None:
        try:
            loss.check_labels(labels)
        except InvalidInput as invalid:
            problems += invalid.problems
    for i, metric in enumerate(metrics):
        try:
            parse_metric(metric, conventions).check_labels(labels)
        except InvalidInput as invalid:
            problems += [InputProblem(f"/metrics/{i}", problem.detail) for problem in invalid.problems]
    if problems:
        raise InvalidInput(*problems)


def check_job_labels(
    statistics: Mapping[str, Any],
    mapped: LabelMap,
    loss: Loss | None,
    metrics: Sequence[str],
    conventions: Conventions = DEFAULT,
) -> None:
    """Refuse a job by the statistics of a dataset, if its labels are certainly invalid.

    Statistics list up to 100 labels. Where a dataset has more of them and they are mapped, what is not
    listed is given the benefit of the doubt: the job checks its labels again.

    Args:
        statistics: Statistics that `dataset_statistics` returned.
        mapped: The labels to replace, as `label_map` returns them.
        loss: As for `check_labels`.
        metrics: As for `check_labels`.
        conventions: As for `check_labels`.

    Raises:
        InvalidInput: As `check_labels` does.
    """
    listed = [entry["label"] for entry in statistics["labels"]]
    check_labels(map_range(_stored_range(statistics, listed), listed, mapped), loss, metrics, conventions)


def _stored_range(statistics: Mapping[str, Any], listed: Sequence[float]) -> LabelRange:
    if stored := statistics.get("label_range"):
        return LabelRange(**stored)
    # Datasets stored before ranges were kept held labels from 0 alone.
    return LabelRange.of(np.array(listed, np.float32))
