"""Distributed trainings on ranks of this machine: the same model, however many there are."""

from typing import Any

import numpy as np
import pytest

from app.models.reproduction import reproduction
from core.data import RankingDataset
from core.data.splits import bootstrap_queries
from core.store import Job
from tests.worker.workshop import Workshop

SMALL = {"num_iterations": 6, "num_leaves": 7, "min_data_in_leaf": 5}


def ranks(number: int) -> dict[str, Any]:
    """Return the part of a job that asks for exactly so many ranks."""
    return {"ranks": {"at_least": number, "at_most": number}, "threads_per_rank": 1}


def _train(workshop: Workshop, dataset_id: str, number: int, **spec: Any) -> Job:
    asked = {"hyperparameters": SMALL, "validation": {"fraction": 0.3}, "distribution": ranks(number)}
    job = workshop.train(dataset_id, **{**asked, **spec})
    assert job.status == "succeeded", job.problem
    return job


def _text(workshop: Workshop, job: Job) -> str:
    return workshop.model_text(job.result or {})


def test_the_model_does_not_depend_on_the_number_of_ranks(
    workshop: Workshop, dataset: RankingDataset
) -> None:
    """Two, three and five ranks give the same bytes, the same curves and the same metrics."""
    dataset_id = workshop.add(dataset, "d1")
    jobs = [_train(workshop, dataset_id, number) for number in (2, 3, 5)]
    assert len({_text(workshop, job) for job in jobs}) == 1
    with workshop.store.read() as tx:
        curves = [[row.values for row in tx.jobs.iterations(job.id)] for job in jobs]
    assert curves[0] == curves[1] == curves[2]
    assert [job.metrics for job in jobs[1:]] == [jobs[0].metrics] * 2
    shown = jobs[1].progress or {}
    assert [each["rank"] for each in shown["ranks"]] == [0, 1, 2]
    assert sum(each["queries"] for each in shown["ranks"]) == 42
    assert all(each["memory_bytes"] and each["sent_bytes"] for each in shown["ranks"])


def test_counts_of_leaves_are_those_of_the_data(workshop: Workshop, dataset: RankingDataset) -> None:
    """Every tree's leaves have all training documents together."""
    job = _train(workshop, workshop.add(dataset, "d1"), 2, validation=None)
    lines = [line for line in _text(workshop, job).splitlines() if line.startswith("leaf_count=")]
    counts = [sum(map(int, line.partition("=")[2].split())) for line in lines]
    assert counts == [dataset.n_documents] * SMALL["num_iterations"]


def test_a_training_stops_early_at_the_same_iteration(workshop: Workshop, dataset: RankingDataset) -> None:
    """The driver decides, from the means of all queries."""
    dataset_id = workshop.add(dataset, "d1")
    spec = {
        "hyperparameters": {**SMALL, "num_iterations": 40},
        "early_stopping": {"metric": "ndcg@5", "rounds": 3},
    }
    jobs = [_train(workshop, dataset_id, number, **spec) for number in (2, 3)]
    done = [(job.progress or {})["iteration"] for job in jobs]
    assert done[0] == done[1] < 40
    assert _text(workshop, jobs[0]) == _text(workshop, jobs[1])


def test_a_model_is_trained_again_to_the_same_bytes(workshop: Workshop, dataset: RankingDataset) -> None:
    """On the ranks that there are then, from its specification, with weights and drawn queries."""
    weighted = bootstrap_queries(dataset, 3)
    dataset_id = workshop.add(weighted, "d1")
    hyperparameters = {**SMALL, "query_fraction": 0.6, "feature_fraction": 0.7}
    _train(workshop, dataset_id, 2, hyperparameters=hyperparameters, loss={"name": "xe-ndcg"})
    with workshop.store.begin() as tx:
        job_id = tx.enqueue(reproduction(tx, tx.models.resolve("web"))).id
    job = workshop.carry_out(job_id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert job.result["equal"] is True


def test_a_training_goes_on_from_a_model(workshop: Workshop, dataset: RankingDataset) -> None:
    """Its trees come first, and keep the counts of the data that they were grown on."""
    dataset_id = workshop.add(dataset, "d1")
    workshop.trained(dataset_id, hyperparameters=SMALL)
    jobs = [_train(workshop, dataset_id, number, init_model="web:1") for number in (2, 3)]
    texts = [_text(workshop, job) for job in jobs]
    assert texts[0] == texts[1]
    with workshop.store.read() as tx:
        first = workshop.model_text({"model_id": tx.models.resolve("web:1").id})
    count = SMALL["num_iterations"]
    assert _leaf_counts(texts[0])[:count] == _leaf_counts(first)
    assert len(_leaf_counts(texts[0])) > count


def _leaf_counts(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("leaf_count=")]


def test_categories_are_codes_of_the_whole_dataset(workshop: Workshop, dataset: RankingDataset) -> None:
    """Features of texts are split by the same categories on each rank, and are written with the model."""
    features = dataset.matrix.copy()
    features[:, 2] = np.random.default_rng(5).integers(0, 4, len(features))
    colours = ["red", "green", "blue", "grey"]
    made = RankingDataset.from_arrays(
        features, dataset.labels, dataset.query_boundaries, categories={"f3": colours}
    )
    dataset_id = workshop.add(made, "colours")
    texts = [_text(workshop, _train(workshop, dataset_id, number)) for number in (2, 3)]
    assert texts[0] == texts[1]
    assert all(colour in texts[0] for colour in colours)


def test_numbers_that_become_categories_are_refused(workshop: Workshop, dataset: RankingDataset) -> None:
    """Ranks read what is stored; the message says what to do."""
    features = dataset.matrix.copy()
    features[:, 2] = 1.0
    made = RankingDataset.from_arrays(features, dataset.labels, dataset.query_boundaries)
    job = workshop.train(
        workshop.add(made, "numbers"),
        categorical_feature=["f3"],
        distribution=ranks(2),
        hyperparameters=SMALL,
    )
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["errors"][0]["pointer"] == "/distribution"


@pytest.mark.long
def test_other_datasets_are_fitted_to_the_training_data(workshop: Workshop, dataset: RankingDataset) -> None:
    """Validation and test data may have their columns in another order."""
    dataset_id = workshop.add(dataset, "d1")
    names = tuple(reversed(dataset.feature_names))
    other = dataset.select_queries(range(20))
    reversed_columns = other.with_features(other.matrix[:, ::-1].copy(), names)
    other_id = workshop.add(reversed_columns, "d2")
    same_id = workshop.add(other, "d3")
    texts = [
        _text(
            workshop,
            _train(
                workshop, dataset_id, number, validation={"dataset_id": held_out}, test_dataset_id=held_out
            ),
        )
        for number, held_out in ((2, other_id), (3, same_id))
    ]
    assert texts[0] == texts[1]
