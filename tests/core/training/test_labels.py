"""Labels that a job cannot use are refused before it runs."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, dataset_statistics
from core.data.labels import LabelRange
from core.errors import InvalidInput
from core.losses import LOSSES, make_loss
from core.training.labels import check_job_labels, check_labels

NAN = float("nan")


def _refusals(call: Any, *arguments: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        call(*arguments)
    return {problem.pointer: problem.detail for problem in caught.value.problems}


def _range(*labels: float) -> LabelRange:
    return LabelRange.of(np.array(labels, np.float32))


def _statistics(*labels: float) -> dict[str, Any]:
    return dataset_statistics(
        RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, [0, len(labels)])
    )


@pytest.mark.parametrize(
    ("labels", "name", "hyperparameters", "pointer", "detail"),
    [
        (
            [0, 31],
            "lambdarank",
            {},
            "/loss/gain",
            "limited to labels up to 30, as in LightGBM; the largest label is 31",
        ),
        ([0, 31], "w-ranknet", {}, "/loss/gain", "Use a linear gain or a list of gains"),
        ([0, 31], "w-listmle", {}, "/loss/gain", "or map the labels to grades"),
        ([0, 31], "xe-ndcg", {}, "/loss", "the largest label is 31"),
        ([0, 31], "listnet", {"target": "gain-softmax"}, "/loss/target", "the largest label is 31"),
        ([0, 5], "lambdarank", {"target": "err"}, "/loss/max_label", "is 4, the data has label 5"),
        ([0, 1], "lambdarank", {"target": "rbp", "max_label": 31}, "/loss/gain", "the largest label is 31"),
        (
            [0, 2],
            "ndcg-loss2",
            {"gain": [0, 1]},
            "/loss/gain",
            "needs labels that are whole numbers from 0 to 1; add gains",
        ),
        ([0, 0.5, 1], "ndcg-loss2", {"gain": [0, 1]}, "/loss/gain", "needs labels that are whole numbers"),
    ],
)
def test_labels_that_a_loss_has_no_gain_for_are_refused(
    labels: list[float], name: str, hyperparameters: dict[str, Any], pointer: str, detail: str
) -> None:
    """The error points at the hyperparameter of the gain, as binding the loss to the data would."""
    loss = make_loss(name, **hyperparameters)
    found = _refusals(check_labels, _range(*labels), loss, [])
    assert list(found) == [pointer]
    assert detail in found[pointer]
    bound = _refusals(loss.prepare, np.array(labels), np.array([0, len(labels)]))
    assert bound == found


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("largest", [30.0, 31.0, 1e6, 1e30])
def test_accepted_labels_have_finite_derivatives(name: str, largest: float) -> None:
    """No loss is given labels that make it NaN or infinite."""
    labels, scores = np.array([0.0, largest, 1.0, largest / 2]), np.array([0.1, -2.0, 0.3, 5.0])
    loss = make_loss(name, **({"gain": "linear"} if name in ("lambdarank", "w-listmle") else {}))
    try:
        check_labels(_range(*labels), loss, [])
    except InvalidInput:
        return
    gradient, hessian = loss.prepare(labels, np.array([0, 4]))(scores, 0)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


def test_labels_from_0_to_30_suit_the_usual_gain() -> None:
    """30 is the last label of LightGBM's table; fractions have gains, too."""
    for labels in ([0, 30], [0.5, 2.25]):
        check_labels(_range(*labels), make_loss("lambdarank"), ["ndcg@10", "map"])


@pytest.mark.parametrize(
    ("name", "hyperparameters"),
    [
        ("lambdarank", {"gain": "linear"}),
        ("lambdarank", {"target": "map"}),
        ("ranknet", {}),
        ("mse", {}),
        ("listmle", {}),
        ("listnet", {}),
        ("arp-loss2", {}),
    ],
)
def test_losses_without_the_exponential_gain_take_any_label(
    name: str, hyperparameters: dict[str, Any]
) -> None:
    """A price such as 12,345.50 is accepted as a label."""
    check_labels(_range(0, 12345.5), make_loss(name, **hyperparameters), ["map", "mrr@10"])


def test_metrics_whose_gain_overflows_are_refused_each() -> None:
    """Gains beyond float64 are refused; metrics of relevance alone are not concerned."""
    check_labels(_range(0, 1000), None, ["ndcg", "dcg@5"])
    found = _refusals(check_labels, _range(0, 1001), None, ["ndcg@10", "map", "dcg"])
    assert list(found) == ["/metrics/0", "/metrics/2"]
    assert "overflows for labels above 1000; the largest label is 1001" in found["/metrics/0"]


def test_loss_and_metrics_are_refused_together() -> None:
    """One error has all problems of the loss and the metrics."""
    found = _refusals(check_labels, _range(0, 2000), make_loss("lambdarank"), ["ndcg"])
    assert list(found) == ["/loss/gain", "/metrics/0"]


def test_statistics_suffice_to_check_a_job() -> None:
    """A job with its label map is checked before any data are loaded."""
    statistics = _statistics(NAN, -1, 0, 1, 99)
    loss = make_loss("lambdarank")
    assert list(_refusals(check_job_labels, statistics, {}, loss, ["ndcg"])) == ["/label_map"]
    assert list(_refusals(check_job_labels, statistics, {"nan": 0.0}, loss, [])) == ["/label_map"]
    unusable = {"nan": 0.0, "-1": 0.0}
    assert list(_refusals(check_job_labels, statistics, unusable, loss, ["ndcg"])) == ["/loss/gain"]
    check_job_labels(statistics, unusable | {"99": 4.0}, loss, ["ndcg"])
    check_job_labels(statistics, unusable, make_loss("lambdarank", gain="linear"), ["ndcg"])


def test_many_labels_are_checked_by_their_range() -> None:
    """The check by range is exact without a label map; with a map, only the job itself can be certain."""
    statistics = _statistics(*np.arange(-1.0, 200.0).tolist())
    loss = make_loss("lambdarank")
    assert list(_refusals(check_job_labels, statistics, {}, loss, [])) == ["/label_map"]
    assert list(_refusals(check_job_labels, statistics, {"-1": 0.0}, loss, [])) == ["/loss/gain"]


def test_statistics_of_older_datasets_suffice() -> None:
    """Older statistics list labels, all of them from 0, and no range."""
    statistics = _statistics(0, 1, 40)
    del statistics["label_range"]
    assert list(_refusals(check_job_labels, statistics, {}, make_loss("lambdarank"), [])) == ["/loss/gain"]
    check_job_labels(statistics, {"40": 3.0}, make_loss("lambdarank"), ["ndcg"])
