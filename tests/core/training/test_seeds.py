"""The seed of a job decides all random draws of its training."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.losses import LOSSES, make_loss
from core.parameters import values_of
from core.training import train, training_spec
from core.training.findings import seed_findings
from core.training.sampling import drawn_queries

# Options under which each random loss draws numbers.
RANDOM: list[dict[str, Any]] = [
    {"name": "xe-ndcg"},
    {"name": "listmle"},
    {"name": "w-listmle"},
    {"name": "lambdarank", "pair_selection": "random", "truncation_level": 3},
    {"name": "ndcg-loss2", "pair_selection": "all-random", "truncation_level": 10},
    {"name": "ranknet", "assignment": "soft", "truncation_level": 3},
]
DETERMINISTIC: list[dict[str, Any]] = [
    *({"name": name} for name in LOSSES if name not in ("xe-ndcg", "listmle", "w-listmle")),
    {"name": "listmle", "ties": "input"},
    {"name": "ranknet", "assignment": "soft"},
    {"name": "lambdarank", "pair_selection": "static", "truncation_level": 3},
    {"name": "lambdarank", "assignment": "soft", "noise": 0.0},
]
QUICK = {"num_iterations": 6, "num_leaves": 7, "min_data_in_leaf": 5}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries long enough for a selection to have a choice."""
    return synthetic_dataset(30, seed=1, documents_per_query=30, n_features=6)


def trees(dataset: RankingDataset, **parts: Any) -> str:
    """Train, and return the trees without the parameters that the text of a model ends with."""
    spec = training_spec({"hyperparameters": QUICK, "metrics": ["ndcg@5"], **parts})
    return re.split(r"^(?:end of trees)$", train(spec, dataset).model_text, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("loss", RANDOM)
def test_the_seed_of_the_job_is_that_of_the_loss(dataset: RankingDataset, loss: dict[str, Any]) -> None:
    """Another seed of the job gives another model, the same as that seed of the loss."""
    assert values_of(training_spec({"loss": loss, "seed": 7}).loss)["seed"] == 7
    assert len({trees(dataset, loss=loss, seed=seed) for seed in (0, 1, 2)}) == 3
    assert trees(dataset, loss=loss, seed=1) == trees(dataset, loss=loss | {"seed": 1}, seed=5)


def test_the_seed_of_the_loss_takes_precedence(dataset: RankingDataset) -> None:
    """Jobs of earlier releases have stored the seed 0 in the loss, and keep it; None is no seed."""
    stored = training_spec({"loss": {"name": "xe-ndcg", "seed": 0}, "seed": 7})
    assert (values_of(stored.loss)["seed"], stored.seed) == (0, 7)
    assert values_of(training_spec({"loss": {"name": "xe-ndcg", "seed": None}, "seed": 7}).loss)["seed"] == 7


@pytest.mark.parametrize(
    "loss", [*RANDOM, *DETERMINISTIC], ids=lambda loss: "-".join(map(str, loss.values()))
)
def test_a_loss_declares_whether_it_is_random(dataset: RankingDataset, loss: dict[str, Any]) -> None:
    """Exactly the random losses have other gradients with another seed."""
    scores = np.random.default_rng(0).normal(size=dataset.n_documents)

    def gradients(seed: int) -> Any:
        options = loss if "seed" not in values_of(default_loss) else loss | {"seed": seed}
        return make_loss(**options)(scores, dataset.labels, dataset.query_boundaries).gradient.tolist()

    default_loss = make_loss(**loss)
    assert default_loss.is_random == (gradients(1) != gradients(2)) == (loss in RANDOM)


@pytest.mark.parametrize(
    "sampling",
    [
        {"feature_fraction": 0.5},
        {"feature_fraction_bynode": 0.5},
        {"extra_trees": True},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"query_fraction": 0.5},
        {"data_sample_strategy": "goss", "learning_rate": 1.0},
        {"boosting": "dart", "skip_drop": 0.0},
        {"use_quantized_grad": True},
    ],
)
def test_sampling_gives_the_seed_an_effect(dataset: RankingDataset, sampling: dict[str, Any]) -> None:
    """Another seed gives other trees with such sampling, and no finding is reported."""
    loss = {"name": "lambdarank"}
    hyperparameters = QUICK | sampling
    assert trees(dataset, loss=loss, hyperparameters=hyperparameters, seed=1) != trees(
        dataset, loss=loss, hyperparameters=hyperparameters, seed=2
    )
    spec = training_spec({"loss": loss, "hyperparameters": hyperparameters})
    assert not list(seed_findings(spec, parts_are_random=False))


@pytest.mark.parametrize("loss", DETERMINISTIC, ids=lambda loss: "-".join(map(str, loss.values())))
@pytest.mark.parametrize("idle", [{}, {"bagging_fraction": 0.5}, {"bagging_freq": 1}])
def test_a_seed_without_effect_is_reported(
    dataset: RankingDataset, loss: dict[str, Any], idle: dict[str, Any]
) -> None:
    """Trees are the same for every seed; there is no finding if the seed draws the data."""
    spec = training_spec({"loss": loss, "hyperparameters": QUICK | idle, "seed": 9})
    (finding,) = seed_findings(spec, parts_are_random=False)
    assert (finding.code, finding.severity) == ("seed-without-effect", "info")
    assert "9" in finding.title
    assert not list(seed_findings(spec, parts_are_random=True))
    assert len({trees(dataset, loss=loss, hyperparameters=QUICK | idle, seed=seed) for seed in (1, 2)}) == 1


def test_drawn_queries_are_a_share_that_changes_with_iteration_and_seed() -> None:
    """The share is exact, at least one query; each query is drawn as often as others over many trees."""
    draws = np.array([drawn_queries(0.3, 50, 1, iteration) for iteration in range(2_000)])
    assert set(draws.sum(axis=1)) == {15}
    np.testing.assert_allclose(draws.mean(axis=0), 0.3, atol=0.05)
    assert drawn_queries(0.001, 50, 1, 0).sum() == 1
    assert drawn_queries(1.0, 50, 1, 0).all()
    other_seed = [drawn_queries(0.3, 50, 2, iteration) for iteration in range(20)]
    assert (draws[:20] != np.array(other_seed)).any()
    # Random numbers depend on the position of a query alone, whatever queries follow.
    assert drawn_queries(0.5, 2, 1, 0).tolist() in ([True, False], [False, True])


def test_queries_that_are_not_drawn_have_no_effect(dataset: RankingDataset) -> None:
    """The first tree is that of the drawn queries with their weights, the others having a weight of 0."""
    drawn = drawn_queries(0.5, dataset.n_queries, 3, 0)
    weighted = replace(dataset, query_weights=drawn.astype(np.float64))
    shape = QUICK | {"num_iterations": 1}
    loss = {"name": "lambdarank"}
    by_draw = trees(dataset, loss=loss, hyperparameters=shape | {"query_fraction": 0.5}, seed=3)
    assert by_draw == trees(weighted, loss=loss, hyperparameters=shape, seed=3)
    assert by_draw != trees(dataset, loss=loss, hyperparameters=shape, seed=3)
