"""Trainings that continue from a model: its trees come first, and the loss begins at its scores."""

from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset
from core.errors import ModelError
from core.scoring import Forest
from core.training import Checkpoint, TrainedRanker, TrainingSpec, train
from tests.core.training.test_resuming import SAMPLING, are_equal, checkpoint_at, spec_of
from tests.core.training.test_tree_options import Datasets, datasets

__all__ = ["datasets"]

BASE_TREES = 5


@pytest.fixture(scope="module")
def base(datasets: Datasets) -> TrainedRanker:
    """A model of another loss."""
    return train(spec_of("mse", num_iterations=BASE_TREES), *datasets)


def start_of(base: TrainedRanker, datasets: Datasets, threads: int = 1) -> Checkpoint:
    """Return the state before the first iteration."""
    parts: dict[str, RankingDataset] = dict(zip(("train", "validation"), datasets, strict=True))
    return Checkpoint.of_model(base.model_text, parts, threads)


def trees_of(text: str) -> list[str]:
    """Return the blocks of the trees, without their numbers."""
    blocks = text.partition("end of trees")[0].split("Tree=")[1:]
    return [block.partition("\n")[2].strip() for block in blocks]


def continued(spec: TrainingSpec, base: TrainedRanker, datasets: Datasets, threads: int = 1) -> TrainedRanker:
    """Train with the model as the start."""
    return train(spec, *datasets, resume=start_of(base, datasets, threads), threads=threads)


def test_the_trees_of_the_model_come_first(base: TrainedRanker, datasets: Datasets) -> None:
    """The first trees are equal byte for byte, and new trees follow the gradient at the model's scores."""
    ranker = continued(spec_of(), base, datasets)
    assert trees_of(ranker.model_text)[:BASE_TREES] == trees_of(base.model_text)
    assert (ranker.base_trees, ranker.kept_iterations) == (BASE_TREES, BASE_TREES + ranker.best_iteration)
    assert Forest.parse(ranker.model_text).n_trees == ranker.kept_iterations
    assert len(ranker.history) == 14
    assert trees_of(ranker.model_text)[BASE_TREES:] != trees_of(train(spec_of(), *datasets).model_text)


def test_a_continued_training_has_the_scores_of_a_longer_one(datasets: Datasets) -> None:
    """Five trees and then nine more give the scores of a training with fourteen trees."""
    short, rest = spec_of("mse", num_iterations=5), spec_of("mse", num_iterations=9)
    whole = train(spec_of("mse"), datasets[0])
    parts = {"train": datasets[0]}
    start = Checkpoint.of_model(train(short, datasets[0]).model_text, parts, 1)
    ranker = train(rest, datasets[0], resume=start)
    scores = [Forest.parse(each.model_text).score(datasets[0].matrix) for each in (whole, ranker)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sampling", [SAMPLING["none"], SAMPLING["all"], {"linear_tree": True}])
def test_any_interruption_and_any_threads_give_the_same_bytes(
    base: TrainedRanker, datasets: Datasets, sampling: dict[str, Any]
) -> None:
    """A checkpoint of such a training has the number of the model's trees."""
    spec = spec_of(**sampling)
    whole = continued(spec, base, datasets)
    assert are_equal(continued(spec, base, datasets, threads=3), whole)
    first = checkpoint_at(2, spec, *datasets, resume=start_of(base, datasets))
    assert first.base_trees == BASE_TREES
    resumed = train(spec, *datasets, resume=checkpoint_at(9, spec, *datasets, resume=first), threads=2)
    assert are_equal(resumed, whole)
    assert resumed.base_trees == BASE_TREES


@pytest.mark.parametrize("boosting", ["gbdt", "dart"])
def test_metrics_and_scores_are_those_of_the_whole_model(
    base: TrainedRanker, datasets: Datasets, boosting: str
) -> None:
    """LightGBM has the same scores for the model text."""
    ranker = continued(spec_of("mse", boosting=boosting), base, datasets)
    scores = Forest.parse(ranker.model_text).score(datasets[0].matrix)
    theirs = lightgbm.Booster(model_str=ranker.model_text).predict(datasets[0].matrix, raw_score=True)
    np.testing.assert_array_equal(scores, theirs)
    at_best = ranker.history[ranker.best_iteration - 1].values["train"]["loss"]
    errors = 0.5 * (scores - datasets[0].labels) ** 2
    assert errors.sum() / datasets[0].n_queries == pytest.approx(at_best)


def test_without_any_gain_the_model_is_unchanged(base: TrainedRanker, datasets: Datasets) -> None:
    """No empty tree is added."""
    ranker = continued(spec_of("mse", min_gain_to_split=1e9), base, datasets)
    assert trees_of(ranker.model_text) == trees_of(base.model_text)
    assert (ranker.best_iteration, ranker.history) == (0, [])


def test_an_average_of_trees_is_refused(base: TrainedRanker, datasets: Datasets) -> None:
    """Another tree would change the weight of all others."""
    text = base.model_text.replace("\nfeature_names=", "\naverage_output\nfeature_names=")
    with pytest.raises(ModelError, match="averages its trees"):
        Checkpoint.of_model(text, {"train": datasets[0]}, 1)
