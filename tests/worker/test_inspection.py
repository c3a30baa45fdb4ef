"""Inspection jobs: importance and partial dependence of features."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.inspection import Permutations, permutation_importance
from core.metrics import conventions
from core.store import Inspection
from tests.worker.inline_worker import InlineWorker
from worker.job.systems import load_model


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries to learn from."""
    return synthetic_dataset(40, seed=1, documents_per_query=20, n_features=6)


SPECIFICATION: dict[str, Any] = {
    "metric": "ndcg@5",
    "contract": "default",
    "label_map": {},
    "repeats": 3,
    "within": "dataset",
    "partial_dependence": {"features": None, "grid": 8, "sample": 100},
    "seed": 42,
}


def _inspected(inline_worker: InlineWorker, dataset_id: str, model_id: str, **changed: Any) -> Inspection:
    job = inline_worker.run("inspect", dataset_id, model_id=model_id, **{**SPECIFICATION, **changed})
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    with inline_worker.store.read() as tx:
        return tx.inspections.get(job.result["inspection_id"])


def test_a_model_is_inspected_from_end_to_end(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The importances equal those of `core.inspection`; the most important features have curves."""
    dataset_id = inline_worker.add(dataset, "d1")
    model_id = inline_worker.training_result(dataset_id)["model_id"]
    stored = _inspected(inline_worker, dataset_id, model_id)
    model = load_model(inline_worker.store, model_id)
    baseline, expected = permutation_importance(
        model.scorer,
        dataset,
        "ndcg@5",
        conventions("default"),
        Permutations(3, "dataset", 42),
    )
    assert stored.importance == [
        {**asdict(each), "feature": dataset.feature_names[each.feature]} for each in expected
    ]
    assert (stored.baseline["mean"], stored.baseline["higher_is_better"]) == (baseline.mean, True)
    assert (stored.model_id, stored.dataset_id, stored.metric) == (model_id, dataset_id, "ndcg@5")
    assert (stored.repeats, stored.within, stored.seed, stored.sample) == (3, "dataset", 42, 100)
    plotted = [each["feature"] for each in stored.partial_dependence]
    assert plotted == [dataset.feature_names[each.feature] for each in expected if each.mean]
    assert len(stored.partial_dependence[0]["points"]) == 8
    with inline_worker.store.read() as tx:
        assert [each.id for each in tx.inspections.page(None, 10, model_id=model_id).items] == [stored.id]
        assert tx.inspections.page(None, 10, model_id="mdl_other").items == []


def test_partial_dependence_has_the_requested_features_in_order(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Features that no tree uses have flat curves; the label map of the job applies."""
    constant = dataset.matrix.copy()
    constant[:, 4] = 1.0
    negative = dataset.with_features(constant, dataset.feature_names).with_labels(dataset.labels - 1)
    dataset_id = inline_worker.add(negative, "d1")
    labels = {"-1": 0.0}
    model_id = inline_worker.training_result(dataset_id, label_map=labels)["model_id"]
    dependence = {"features": ["f5", "f1"], "grid": 4, "sample": 50}
    stored = _inspected(inline_worker, dataset_id, model_id, label_map=labels, partial_dependence=dependence)
    unused, _ = stored.partial_dependence
    assert [each["feature"] for each in stored.partial_dependence] == ["f5", "f1"]
    assert [point["value"] for point in unused["points"]] == [1.0]
    (importance,) = (each for each in stored.importance if each["feature"] == "f5")
    assert (importance["mean"], importance["upper"]) == (0.0, 0.0)


@pytest.mark.long
@pytest.mark.parametrize("change", ["labels", "features"])
def test_data_that_do_not_fit_end_the_job(
    inline_worker: InlineWorker, dataset: RankingDataset, change: str
) -> None:
    """The problem of the job names the reason."""
    model_id = inline_worker.training_result(inline_worker.add(dataset, "d1"))["model_id"]
    unfit = dataset.with_labels(-np.ones_like(dataset.labels))
    if change == "features":
        unfit = dataset.with_features(dataset.features[:, :2].copy(), ("bm25", "age"))
    job = inline_worker.run("inspect", inline_worker.add(unfit, "d2"), model_id=model_id, **SPECIFICATION)
    assert job.status == "failed"
    assert job.problem is not None
    assert {"labels": "label", "features": "lacks 4 of the 4 features that"}[change] in job.problem["detail"]
