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

    Raises:
        InvalidInput: At `/label_map` for labels that no loss or metric can use; else at each loss
            hyperparameter, such as `/loss/gain`, and metric, such as `/metrics/0`, that conflicts with the
            labels.
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
    label_map: LabelMap,
    loss: Loss | None,
    metrics: Sequence[str],
    conventions: Conventions = DEFAULT,
) -> None:
    """Refuse a job if the statistics of its dataset show that labels are invalid.

    Statistics list up to 100 labels. Where a dataset has more and labels are mapped, unlisted labels are
    assumed valid: the job checks all labels when it runs.

    Args:
        statistics: Statistics that `dataset_statistics` returned.
        loss: As for `check_labels`.
        metrics: As for `check_labels`.
        conventions: As for `check_labels`.

    Raises:
        InvalidInput: See `check_labels`.
    """
    listed = [entry["label"] for entry in statistics["labels"]]
    check_labels(map_range(_stored_range(statistics, listed), listed, label_map), loss, metrics, conventions)


def _stored_range(statistics: Mapping[str, Any], listed: Sequence[float]) -> LabelRange:
    if stored := statistics.get("label_range"):
        return LabelRange(**stored)
    # Datasets stored without a label range have no negative labels.
    return LabelRange.of(np.array(listed, np.float32))
