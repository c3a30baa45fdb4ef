"""Interrupted trainings: the same model, byte for byte, as without the interruption."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.errors import JobCancelled
from core.training import (
    Checkpoint,
    CheckpointError,
    IterationReport,
    Snapshot,
    TrainedRanker,
    TrainingSpec,
    train,
    training_spec,
)

ITERATIONS = 14
SAMPLING: dict[str, dict[str, Any]] = {
    "none": {},
    "documents": {"bagging_fraction": 0.8, "bagging_freq": 1},
    "documents, as a subset": {"bagging_fraction": 0.4, "bagging_freq": 1},
    "documents, every third iteration": {"bagging_fraction": 0.8, "bagging_freq": 3},
    "queries": {"query_fraction": 0.6},
    "features": {"feature_fraction": 0.8},
    "features by split": {"feature_fraction_bynode": 0.7},
    "thresholds": {"extra_trees": True},
    "all": {
        "query_fraction": 0.8,
        "bagging_fraction": 0.8,
        "bagging_freq": 2,
        "feature_fraction": 0.8,
        "extra_trees": True,
    },
}


@pytest.fixture(scope="module")
def datasets() -> tuple[RankingDataset, RankingDataset]:
    """Two blocks of LightGBM's bagging, 1,024 documents each, and held-out queries."""
    return split_queries(synthetic_dataset(60, seed=1, n_features=20), fraction=0.33, seed=1)


def spec_of(loss: str = "lambdarank", **hyperparameters: Any) -> TrainingSpec:
    """Return the specification of a quick training."""
    shape = {"num_iterations": ITERATIONS, "num_leaves": 15, "min_data_in_leaf": 5}
    return training_spec(
        {"loss": {"name": loss}, "hyperparameters": shape | hyperparameters, "metrics": ["ndcg@5"]}
    )


def checkpoint_at(
    iteration: int,
    spec: TrainingSpec,
    training: RankingDataset,
    validation: RankingDataset | None = None,
    resume: Checkpoint | None = None,
) -> Checkpoint:
    """Train until an iteration and return the checkpoint there, as it comes back from a file."""
    taken: list[bytes] = []

    def stop(report: IterationReport, snapshot: Snapshot) -> None:
        if report.iteration == iteration:
            taken.append(snapshot().to_bytes())
            raise JobCancelled("job_1")

    with pytest.raises(JobCancelled):
        train(spec, training, validation, on_iteration=stop, resume=resume)
    return Checkpoint.from_bytes(taken[0])


def are_equal(one: TrainedRanker, other: TrainedRanker) -> bool:
    """Return whether two rankers are equal."""
    return (one.model_text, one.best_iteration, one.history) == (
        other.model_text,
        other.best_iteration,
        other.history,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("sampling", "iterations"),
    [
        *((name, (1, 7, ITERATIONS - 1) if name == "all" else (7,)) for name in SAMPLING),
        *(pytest.param(name, range(1, ITERATIONS), marks=pytest.mark.slow) for name in SAMPLING),
    ],
)
def test_a_training_resumed_at_any_iteration_is_the_same(
    sampling: str, iterations: Iterable[int], datasets: tuple[RankingDataset, RankingDataset]
) -> None:
    """Text, best iteration and history are those of an uninterrupted training, also with random draws."""
    spec = spec_of(**SAMPLING[sampling])
    whole = train(spec, *datasets)
    for iteration in iterations:
        resumed = train(spec, *datasets, resume=checkpoint_at(iteration, spec, *datasets))
        assert are_equal(resumed, whole), iteration


def test_sampling_draws_again_for_each_tree() -> None:
    """Each tree has other documents, as many as requested."""
    dataset = synthetic_dataset(160, seed=1, n_features=5)
    spec = spec_of(bagging_fraction=0.5, bagging_freq=1, num_leaves=2)
    texts = train(spec, dataset).model_text.split("Tree=")[1:]
    counts = [line for text in texts for line in text.splitlines() if line.startswith("internal_count=")]
    drawn = [int(line.removeprefix("internal_count=")) for line in counts]
    assert len(set(drawn)) > ITERATIONS / 2
    assert np.mean(drawn) == pytest.approx(dataset.n_documents / 2, rel=0.05)


def test_a_training_resumed_many_times_is_the_same(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """A training that is interrupted four times, and ends on two threads, has the same result."""
    spec = spec_of("xe-ndcg", **SAMPLING["all"])
    checkpoint = None
    for iteration in (2, 3, 7, 11):
        checkpoint = checkpoint_at(iteration, spec, *datasets, resume=checkpoint)
    resumed = train(spec, *datasets, resume=checkpoint, threads=2)
    assert are_equal(resumed, train(spec, *datasets))


@pytest.mark.long
def test_early_stopping_continues_to_count(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Iterations without improvement before the interruption count after it."""
    spec = training_spec(
        {
            "loss": {"name": "lambdarank"},
            "hyperparameters": {
                "num_iterations": 300,
                "learning_rate": 0.5,
                "bagging_fraction": 0.8,
                "bagging_freq": 1,
            },
            "metrics": ["ndcg@5"],
            "early_stopping": {"metric": "ndcg@3", "rounds": 6},
        }
    )
    whole = train(spec, *datasets)
    assert len(whole.history) == whole.best_iteration + 6
    for iteration in (whole.best_iteration, whole.best_iteration + 3, len(whole.history)):
        assert are_equal(train(spec, *datasets, resume=checkpoint_at(iteration, spec, *datasets)), whole)


@pytest.mark.long
def test_diagnostics_are_of_the_same_iterations(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Diagnostics of the loss are the same before and after the interruption."""
    spec = training_spec(
        {
            "loss": {"name": "ndcg-loss2++"},
            "hyperparameters": {"num_iterations": 7},
            "metrics": ["ndcg@5"],
            "metric_interval": 3,
            "diagnostics": {"interval": 2},
        }
    )
    resumed = train(spec, datasets[0], resume=checkpoint_at(4, spec, datasets[0]))
    assert are_equal(resumed, train(spec, datasets[0]))
    assert [report.iteration for report in resumed.history if "diagnostics" in report.values] == [1, 3, 5, 7]


def test_a_damaged_checkpoint_is_refused(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Cut or foreign bytes, and another version of the format, are refused."""
    content = checkpoint_at(2, spec_of(), *datasets).to_bytes()
    other_version = content.replace(b'"format": 1', b'"format": 9')
    for damaged in (b"", b"PK", content[:-40], content[: len(content) // 2], b"x" * 100, other_version):
        with pytest.raises(CheckpointError):
            Checkpoint.from_bytes(damaged)


def test_checkpoints_do_not_contain_times(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Iterations record times, but checkpoints omit them, so that equal trainings have equal bytes."""
    spec = spec_of()
    checkpoints = [checkpoint_at(3, spec, *datasets) for _ in range(2)]
    assert checkpoints[0].to_bytes() == checkpoints[1].to_bytes()
    assert [report.milliseconds for report in checkpoints[0].history] == [{}] * 3
    resumed = train(spec, *datasets, resume=checkpoints[0])
    assert set(resumed.history[3].milliseconds) == {"objective", "tree", "metrics"}
