"""Distributed trainings on ranks of this machine: the same model, however many there are."""

from typing import Any

import numpy as np
import pytest

from app.models.reproduction import reproduction
from core.data import RankingDataset
from core.data.splits import bootstrap_queries, split_queries
from core.store import Job
from tests.worker.workshop import Workshop
from worker.ranks import sharing

SMALL = {"num_iterations": 6, "num_leaves": 7, "min_data_in_leaf": 5}
SEED = 3
STOPPED_EARLY: dict[str, Any] = {
    "hyperparameters": {**SMALL, "num_iterations": 40},
    "early_stopping": {"metric": "ndcg@5", "rounds": 3},
    "seed": SEED,
}
COLOURS = ["red", "green", "blue", "grey"]


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


@pytest.fixture(scope="module")
def coloured(dataset: RankingDataset) -> RankingDataset:
    """The dataset with categories in a feature."""
    features = dataset.matrix.copy()
    features[:, 2] = np.random.default_rng(5).integers(0, len(COLOURS), len(features))
    return RankingDataset.from_arrays(
        features, dataset.labels, dataset.query_boundaries, categories={"f3": COLOURS}
    )


@pytest.fixture(scope="module")
def coloured_id(shared_workshop: Workshop, coloured: RankingDataset) -> str:
    """The id of that dataset in the shared store."""
    return shared_workshop.add(coloured, "coloured")


@pytest.fixture(scope="module")
def jobs(shared_workshop: Workshop, coloured_id: str) -> list[Job]:
    """The same training on two and on three ranks."""
    return [_train(shared_workshop, coloured_id, number, **STOPPED_EARLY) for number in (2, 3)]


def test_the_model_does_not_depend_on_the_number_of_ranks(shared_workshop: Workshop, jobs: list[Job]) -> None:
    """Two and three ranks give the same bytes, the same curves and the same metrics."""
    assert len({_text(shared_workshop, job) for job in jobs}) == 1
    with shared_workshop.store.read() as tx:
        curves = [[row.values for row in tx.jobs.iterations(job.id)] for job in jobs]
    assert curves[0] == curves[1]
    assert jobs[0].metrics == jobs[1].metrics
    shown = jobs[1].progress or {}
    assert [each["rank"] for each in shown["ranks"]] == [0, 1, 2]
    assert sum(each["queries"] for each in shown["ranks"]) == 42
    assert all(each["memory_bytes"] and each["sent_bytes"] for each in shown["ranks"])


def test_counts_of_leaves_are_those_of_the_data(
    shared_workshop: Workshop, coloured: RankingDataset, jobs: list[Job]
) -> None:
    """Every tree's leaves have all training documents together."""
    training, _ = split_queries(coloured, 0.3, seed=SEED)
    lines = _leaf_counts(_text(shared_workshop, jobs[0]))
    counts = [sum(map(int, line.partition("=")[2].split())) for line in lines]
    assert set(counts) == {training.n_documents}


def test_a_training_stops_early_at_the_same_iteration(jobs: list[Job]) -> None:
    """The driver decides, from the means of all queries."""
    done = [(job.progress or {})["iteration"] for job in jobs]
    assert done[0] == done[1] < STOPPED_EARLY["hyperparameters"]["num_iterations"]


def test_categories_are_codes_of_the_whole_dataset(shared_workshop: Workshop, jobs: list[Job]) -> None:
    """Features of texts are split by the same categories on each rank, and are written with the model."""
    text = _text(shared_workshop, jobs[0])
    assert all(colour in text for colour in COLOURS)
    assert any(line != "num_cat=0" for line in text.splitlines() if line.startswith("num_cat="))


def test_the_sample_of_a_rank_comes_in_blocks(
    shared_workshop: Workshop,
    coloured: RankingDataset,
    coloured_id: str,
    jobs: list[Job],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks of ten documents, which do not divide the shards, give the bins that one block gives."""
    monkeypatch.setattr(sharing, "_SAMPLED_CELLS", 10 * coloured.n_features)
    job = _train(shared_workshop, coloured_id, 2, **STOPPED_EARLY)
    assert _text(shared_workshop, job) == _text(shared_workshop, jobs[0])


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
