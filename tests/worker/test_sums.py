"""Sums of models, and trees grown on the residuals of a network."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.scorers import Sum, read_model
from core.store import Model
from core.store.artifacts.keys import model_key
from tests.worker.inline_worker import InlineWorker
from worker.job.systems import load_model

LINEAR: dict[str, Any] = {
    "scorer": {"kind": "linear", "epochs": 5, "learning_rate": 0.05},
    "hyperparameters": {},
    "model_name": "net",
}
BOTH: dict[str, Any] = {
    "model_name": "both",
    "loss": None,
    "hyperparameters": {},
    "scorer": {"kind": "sum", "models": ["web:1", "net:1"], "weights": None},
}


@pytest.fixture
def dataset() -> RankingDataset:
    """Judged queries."""
    return synthetic_dataset(80, seed=1, documents_per_query=8, n_features=4)


@pytest.fixture
def dataset_id(inline_worker: InlineWorker, dataset: RankingDataset) -> str:
    """The id of the dataset, on which trees and a linear scorer are trained."""
    judged_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(judged_id)
    inline_worker.training_result(judged_id, **LINEAR)
    return judged_id


def _model(inline_worker: InlineWorker, result: dict[str, Any]) -> tuple[Model, Any]:
    with inline_worker.store.read() as tx:
        row = tx.models.get(result["model_id"])
    return row, read_model(inline_worker.store.artifacts.read_bytes(model_key(row.id)))


def test_weights_are_fitted_on_validation(inline_worker: InlineWorker, dataset_id: str) -> None:
    """Without `shrinkage`, as in jobs of earlier releases, the sum is the best on the validation data."""
    job = inline_worker.train(dataset_id, **BOTH, validation={"fraction": 0.3}, test={"fraction": 0.2})
    assert job.status == "succeeded", job.problem
    assert job.metrics is not None
    assert job.result is not None
    row, sum_model = _model(inline_worker, job.result)
    assert isinstance(sum_model, Sum)
    assert row.scorer == {
        "kind": "sum",
        "models": ["web:1", "net:1"],
        "weights": [member.weight for member in sum_model.members],
    }
    assert (row.loss, row.hyperparameters, row.kind) == (None, {}, "sum")
    assert row.lineage is not None
    assert [member["model"] for member in row.lineage["members"]] == ["web:1", "net:1"]
    alone = [
        inline_worker.train(
            dataset_id,
            **{**BOTH, "scorer": {**BOTH["scorer"], "weights": weights}},
            validation={"fraction": 0.3},
            test={"fraction": 0.2},
        ).metrics
        for weights in ([1.0, 0.0], [0.0, 1.0])
    ]
    assert job.metrics["validation"]["ndcg@5"] >= max(each["validation"]["ndcg@5"] for each in alone if each)
    assert {"ndcg@5"} <= set(job.metrics["test"])


def test_fitted_weights_are_shrunk(inline_worker: InlineWorker, dataset_id: str) -> None:
    """A finding reports the shrinkage, and the same job makes the same bytes again."""
    spec = {**BOTH, "scorer": {**BOTH["scorer"], "shrinkage": "cross-validated"}}
    job = inline_worker.train(dataset_id, **spec, validation={"fraction": 0.3})
    assert job.result is not None, job.problem
    (shrinkage,) = [finding for finding in job.findings or [] if finding["code"] == "shrunk-weights"]
    assert "on 24 validation queries" in shrinkage["title"]
    row, _ = _model(inline_worker, job.result)
    assert row.lineage is not None
    assert row.lineage["spec"]["scorer"]["shrinkage"] == "cross-validated"
    again = inline_worker.run(
        **{**row.lineage["spec"], "kind": "reproduce", "model_id": row.id, "system": "both:1"}
    )
    assert again.result is not None, again.problem
    assert again.result["equal"]


def test_weights_can_be_fixed(inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str) -> None:
    """Scores are the weighted sum of the members'; the same job makes the same bytes again."""
    spec = {**BOTH, "scorer": {**BOTH["scorer"], "weights": [0.5, -1.0]}}
    row, sum_model = _model(inline_worker, inline_worker.training_result(dataset_id, **spec))
    expected = np.zeros(dataset.n_documents)
    for reference, weight in (("web:1", 0.5), ("net:1", -1.0)):
        with inline_worker.store.read() as tx:
            member_id = tx.models.resolve(reference).id
        expected += weight * load_model(inline_worker.store, member_id).scorer.score(dataset.features)
    np.testing.assert_array_equal(sum_model.score(dataset.features), expected)
    assert row.lineage is not None
    again = inline_worker.run(
        **{**row.lineage["spec"], "kind": "reproduce", "model_id": row.id, "system": "both:1"}
    )
    assert again.result is not None, again.problem
    assert again.result["equal"]


def test_training_data_must_have_all_used_features(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The job fails if the dataset lacks a feature that a model of the sum uses."""
    narrow = inline_worker.add(synthetic_dataset(20, seed=2, documents_per_query=5, n_features=1), "narrow")
    problem = inline_worker.train(narrow, **BOTH, validation={"fraction": 0.5}).problem
    assert problem is not None
    assert problem["errors"][0]["pointer"] == "/dataset_id"


def test_trees_continue_from_a_network(
    inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str
) -> None:
    """The trees are grown from the scores of the network, and the model is the sum of both."""
    job = inline_worker.train(dataset_id, init_model="net:1", metric_interval=1)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    row, sum_model = _model(inline_worker, job.result)
    assert row.kind == "sum"
    net, trees = sum_model.members
    assert (net.reference, net.weight, trees.weight, trees.model.kind) == ("net:1", 1.0, 1.0, "trees")
    scores = net.model.score(dataset.features) + trees.model.score(dataset.features)
    np.testing.assert_array_equal(sum_model.score(dataset.features), scores)
    with inline_worker.store.read() as tx:
        first = tx.jobs.iterations(job.id)[0]
    linear = inline_worker.run(
        "evaluate", dataset_id, system="net:1", model_id=net_id(inline_worker), metrics=["ndcg@5"]
    )
    assert linear.metrics is not None
    assert first.values["train"]["ndcg@5"] > linear.metrics["test"]["ndcg@5"] - 0.05


def net_id(inline_worker: InlineWorker) -> str:
    """Return the id of the linear scorer."""
    with inline_worker.store.read() as tx:
        return tx.models.resolve("net:1").id
