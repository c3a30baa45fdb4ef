"""Every loss gives the same model on any number of ranks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.data import RankingDataset
from core.losses.registry import LOSSES
from core.training import training_spec
from core.training.distribution import shards
from core.training.grower import portable_text
from core.types import Float64Array
from tests.worker.ranks.threads import on_ranks, trained
from worker.ranks.collectives import Collectives
from worker.ranks.shard_training import ShardTraining

HYPERPARAMETERS = {"num_iterations": 4, "num_leaves": 7, "min_data_in_leaf": 5}


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_two_and_five_ranks_give_the_same_bytes(loss: str, dataset: RankingDataset, tmp_path: Path) -> None:
    """Sums of histograms are exact; random numbers depend on a query's position in the whole dataset."""
    spec = training_spec({"loss": {"name": loss}, "hyperparameters": HYPERPARAMETERS})
    texts = {trained(spec, dataset, number, tmp_path) for number in (2, 5)}
    assert len(texts) == 1


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {"query_fraction": 0.5},
        {"feature_fraction": 0.5},
        {"feature_fraction_bynode": 0.5},
        {"lambda_l1": 0.1, "path_smooth": 1.0, "max_depth": 3},
        {"monotone_constraints": {"f1": 1}, "min_gain_to_split": 0.01},
        {"max_bin": 15, "feature_contri": {"f2": 0.5}, "max_delta_step": 0.2},
    ],
    ids=lambda values: next(iter(values)),
)
def test_hyperparameters_give_the_same_model_on_any_number_of_ranks(
    hyperparameters: dict[str, object], dataset: RankingDataset, tmp_path: Path
) -> None:
    """Draws of queries and features are those of the whole training."""
    spec = training_spec(
        {"loss": {"name": "lambdarank"}, "hyperparameters": {**HYPERPARAMETERS, **hyperparameters}}
    )
    texts = {trained(spec, dataset, number, tmp_path) for number in (2, 3)}
    assert len(texts) == 1


def test_gradients_of_any_size_add_up_alike(dataset: RankingDataset, tmp_path: Path) -> None:
    """Without rounding to a common grid, sums of very different gradients would depend on the ranks."""
    weights = 10.0 ** np.random.default_rng(11).uniform(-6, 6, dataset.n_queries)
    weighted = replace(dataset, query_weights=weights)
    hyperparameters = {**HYPERPARAMETERS, "num_iterations": 12}
    spec = training_spec({"loss": {"name": "ranknet"}, "hyperparameters": hyperparameters})
    texts = {trained(spec, weighted, number, tmp_path) for number in (2, 3, 5)}
    assert len(texts) == 1


@pytest.mark.parametrize("n_stops", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_training_continues_with_another_number_of_ranks(
    dataset: RankingDataset, tmp_path: Path, n_stops: int
) -> None:
    """A training that stops at random iterations ends with the model of an uninterrupted training."""
    iterations = 12
    spec = training_spec(
        {
            "loss": {"name": "ndcg-loss2++"},
            "hyperparameters": {**HYPERPARAMETERS, "num_iterations": iterations},
        }
    )
    whole = trained(spec, dataset, 2, tmp_path)
    random = np.random.default_rng(7)
    for stop in sorted(random.choice(np.arange(1, iterations), n_stops, replace=False).tolist()):
        before, after = random.permutation([2, 3, 4, 5])[:2].tolist()

        def grow(
            shard: ShardTraining, collectives: Collectives, stop: int = stop
        ) -> tuple[str, Float64Array]:
            shard.start(collectives, "", {}, 0, lambda: None)
            for _ in range(stop):
                shard.grower.grow()
            return shard.grower.state_text(), shard.scores()["train"]

        states = on_ranks(spec, dataset, before, tmp_path, grow)
        scores = np.concatenate([found for _, found in states])
        cuts = dataset.query_boundaries[shards(dataset.query_boundaries, after)]

        def resume(
            shard: ShardTraining,
            collectives: Collectives,
            stop: int = stop,
            text: str = states[0][0],
            parts: tuple[Float64Array, ...] = tuple(np.split(scores, cuts[1:-1])),
        ) -> str:
            shard.start(collectives, text, {"train": parts[collectives.rank]}, stop, lambda: None)
            while shard.grower.iterations_done < iterations:
                shard.grower.grow()
            shard.grower.finish()
            return portable_text(shard.grower.model_text(iterations))

        assert set(on_ranks(spec, dataset, after, tmp_path, resume)) == {whole}, (stop, before, after)
