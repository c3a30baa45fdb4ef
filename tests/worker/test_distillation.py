"""Trainings on the scores of another model."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.evaluation import measure
from core.evaluation.paired import paired_differences
from core.losses import make_loss
from core.scorers import Network, read_model
from core.store.artifacts.keys import model_key
from core.training.distillation import labels_of_scores
from tests.worker.inline_worker import InlineWorker
from worker.job.systems import load_model

STUDENT: dict[str, Any] = {"model_name": "small", "labels_from": "model:web:1", "loss": {"name": "mse"}}
LINEAR = {"kind": "linear", "epochs": 60, "learning_rate": 0.05}


@pytest.fixture
def dataset() -> RankingDataset:
    """Judged queries with few features."""
    return synthetic_dataset(60, seed=1, documents_per_query=8, n_features=4)


@pytest.fixture
def dataset_id(inline_worker: InlineWorker, dataset: RankingDataset) -> str:
    """The id of the dataset, which the teacher is trained on."""
    judged_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(judged_id)
    return judged_id


def test_labels_are_the_teachers_scores(
    inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str
) -> None:
    """The student is byte-identical to a model trained on a dataset with the teacher's scores as labels."""
    taught = inline_worker.training_result(dataset_id, **STUDENT)
    with inline_worker.store.read() as tx:
        teacher_id = tx.models.resolve("web:1").id
        lineage = tx.models.get(taught["model_id"]).lineage
    scores = load_model(inline_worker.store, teacher_id).scorer.score(dataset.features)
    labels = labels_of_scores(scores, dataset.query_boundaries, dataset.labels, make_loss("mse"))
    by_hand = inline_worker.add(dataset.with_labels(labels), "by hand")
    expected = inline_worker.training_result(by_hand, **{**STUDENT, "labels_from": None})
    assert inline_worker.model_text(taught) == inline_worker.model_text(expected)
    assert lineage is not None
    assert (lineage["teacher"]["id"], lineage["teacher"]["model"]) == (teacher_id, "web:1")


@pytest.mark.long
def test_training_documents_need_no_judgments(
    inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str
) -> None:
    """Training queries may be unjudged; validation queries must be judged."""
    unjudged = dataset.with_labels(np.full(dataset.n_documents, np.nan, np.float32))
    unjudged_id = inline_worker.add(unjudged, "unjudged")
    student = {**STUDENT, "scorer": LINEAR, "hyperparameters": {}}
    job = inline_worker.train(unjudged_id, **student, validation={"dataset_id": dataset_id})
    assert job.status == "succeeded", job.problem
    assert job.metrics is not None
    assert job.metrics["validation"]["ndcg@5"] > 0.5
    refused = inline_worker.train(unjudged_id, **student, validation={"fraction": 0.2})
    assert refused.problem is not None
    assert refused.problem["errors"][0]["pointer"] == "/label_map"


def test_a_student_can_use_fewer_features_than_its_teacher(
    inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str
) -> None:
    """The student is trained on two of the teacher's features."""
    chosen = {"features": {"use": list(dataset.feature_names[:2])}, "test": {"fraction": 0.2}}
    result = inline_worker.training_result(dataset_id, **STUDENT, **chosen, validation={"fraction": 0.2})
    with inline_worker.store.read() as tx:
        assert tx.models.get(result["model_id"]).feature_names == list(dataset.feature_names[:2])


def test_a_teacher_of_other_features_is_refused(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The teacher cannot score documents that lack most of its features; the problem names it."""
    other = inline_worker.add(synthetic_dataset(20, seed=2, documents_per_query=5, n_features=1), "narrow")
    problem = inline_worker.train(other, **STUDENT).problem
    assert problem is not None
    assert "web:1" in problem["detail"]


def test_a_feature_of_the_teacher_that_the_data_lack_is_reported(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The finding is on the training data."""
    narrow = inline_worker.add(synthetic_dataset(20, seed=2, documents_per_query=5, n_features=3), "narrow")
    job = inline_worker.train(narrow, **STUDENT)
    assert job.status == "succeeded", job.problem
    (finding,) = [each for each in job.findings or () if each["code"] == "features-absent"]
    assert (finding["role"], finding["examples"]) == ("train", ["f4"])


def test_distillation_is_reproduced(inline_worker: InlineWorker, dataset_id: str) -> None:
    """A reproduction with the teacher of the lineage yields the same bytes."""
    result = inline_worker.training_result(dataset_id, **STUDENT)
    with inline_worker.store.read() as tx:
        model = tx.models.get(result["model_id"])
    assert model.lineage is not None
    spec = {**model.lineage["spec"], "kind": "reproduce", "model_id": model.id, "system": model.reference}
    again = inline_worker.run(**spec)
    assert again.result is not None, again.problem
    assert again.result["equal"]


def test_the_difference_from_the_teacher_is_reported(
    inline_worker: InlineWorker, dataset: RankingDataset, dataset_id: str
) -> None:
    """The finding has the difference on the test queries; it warns if the teacher was trained on these."""
    student = {**STUDENT, "hyperparameters": {"num_iterations": 2, "num_leaves": 3, "min_data_in_leaf": 1}}
    other = synthetic_dataset(30, seed=5, documents_per_query=8, n_features=4)
    apart = inline_worker.add(other, "apart")
    seen = _teacher_finding(inline_worker.train(dataset_id, **student, test={"fraction": 0.2}))
    unseen = _teacher_finding(inline_worker.train(dataset_id, **student, test_dataset_id=apart))
    again = inline_worker.add(dataset, "judged")
    uploaded_again = _teacher_finding(inline_worker.train(dataset_id, **student, test_dataset_id=again))
    assert "may have been trained on" in seen["advice"]
    assert "may have been trained on" in uploaded_again["advice"]
    assert "may have been trained on" not in unseen["advice"]
    with inline_worker.store.read() as tx:
        models = [tx.models.resolve(name) for name in ("web:1", "small:2")]
    values = [
        measure(load_model(inline_worker.store, row.id).scorer.score(other.features), other, ["ndcg@5"])[
            "ndcg@5"
        ]
        for row in models
    ]
    (difference,) = paired_differences(*(each[:, np.newaxis] for each in values), permutations=1_000)
    assert difference is not None
    assert unseen["title"] == (
        f"small has ndcg@5 {values[1].mean():.4f} on 30 test queries, its teacher web:1"
        f" {values[0].mean():.4f}: the difference is {difference.difference:+.4f}"
        f" ({difference.interval})"
    )
    assert (models[1].findings or [])[0]["title"] == unseen["title"]
    # Queries that both trainings hold out are new to the teacher, too.
    apart_of_both = {"test": {"fraction": 0.2}, "seed": 7}
    inline_worker.train(dataset_id, **apart_of_both)
    held_out = {**student, "labels_from": "model:web:2", **apart_of_both}
    assert (
        "may have been trained on"
        not in _teacher_finding(inline_worker.train(dataset_id, **held_out))["advice"]
    )


def test_a_base_model_that_was_trained_on_the_test_queries_is_reported(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The teacher holds out the test queries, the model that it continues does not."""
    apart = {"test": {"fraction": 0.2}, "seed": 7}
    inline_worker.training_result(dataset_id, init_model="web:1", **apart)
    finding = _teacher_finding(
        inline_worker.train(dataset_id, **{**STUDENT, "labels_from": "model:web:2"}, **apart)
    )
    assert "may have been trained on" in finding["advice"]


def _teacher_finding(job: Any) -> dict[str, Any]:
    assert job.status == "succeeded", job.problem
    (comparison,) = [finding for finding in job.findings if finding["code"] == "distilled"]
    assert comparison["role"] == "test"
    return dict(comparison)


@pytest.mark.slow
@pytest.mark.long
def test_a_linear_student_learns_the_weights_of_a_linear_teacher(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """With the loss mse, the student's weights are the teacher's times one factor."""
    dataset_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(dataset_id, scorer=LINEAR, hyperparameters={})
    exact = {**LINEAR, "epochs": 400, "optimizer": "sgd", "learning_rate": 0.1, "batch_documents": 1_000}
    result = inline_worker.training_result(dataset_id, **STUDENT, scorer=exact, hyperparameters={})
    teacher, student = (_weights(inline_worker, reference) for reference in ("web:1", "small:1"))
    assert result["model_id"]
    factor = float(student @ teacher / (teacher @ teacher))
    assert factor > 0.0
    np.testing.assert_allclose(student, factor * teacher, atol=1e-3 * np.abs(student).max())


def _weights(inline_worker: InlineWorker, reference: str) -> Any:
    with inline_worker.store.read() as tx:
        model_id = tx.models.resolve(reference).id
    network = read_model(inline_worker.store.artifacts.read_bytes(model_key(model_id)))
    assert isinstance(network, Network)
    return network.layers[0].weights[:, 0].astype(float)
