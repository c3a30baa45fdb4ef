"""Boosting with dart: metrics are those of the whole model, and trainings neither resume nor stop early."""

from dataclasses import replace
from typing import Any

import pytest

from core.data import RankingDataset
from core.errors import InvalidInput
from core.metrics import parse_metric
from core.scoring import Forest
from core.training import train, training_spec
from core.training.findings import resumption_findings
from tests.core.training.test_resuming import are_equal, spec_of
from tests.core.training.test_tree_options import DART, Datasets, datasets

__all__ = ["datasets"]


@pytest.mark.parametrize("options", DART.values(), ids=DART.keys())
def test_one_and_three_threads_give_the_same_bytes(options: dict[str, Any], datasets: Datasets) -> None:
    """A second training starts again from the first tree; another seed gives other trees."""
    spec = spec_of(boosting="dart", **options)
    whole = train(spec, *datasets)
    assert are_equal(train(spec, *datasets, threads=3), whole)
    texts = [train(replace(spec, seed=seed), *datasets).model_text for seed in (1, 2)]
    assert len({text.partition("end of trees")[0] for text in texts}) == 2


@pytest.mark.parametrize("options", DART.values(), ids=DART.keys())
def test_metrics_are_those_of_the_model(options: dict[str, Any], datasets: Datasets) -> None:
    """Metrics are those of all trees, none dropped, also on training data and after fewer iterations."""
    spec = spec_of(boosting="dart", **options)
    ranker = train(spec, *datasets)
    shorter = train(spec_of(boosting="dart", num_iterations=7, **options), *datasets)
    assert (ranker.best_iteration, shorter.best_iteration) == (14, 7)
    for trained in (ranker, shorter):
        forest = Forest.parse(trained.model_text)
        assert forest.n_trees == trained.best_iteration
        for name, dataset in zip(("train", "validation"), datasets, strict=True):
            expected = mean_ndcg(forest, dataset)
            assert trained.history[-1].values[name]["ndcg@5"] == pytest.approx(expected, abs=1e-9)
    assert shorter.history[-1].values == ranker.history[6].values


def mean_ndcg(forest: Forest, dataset: RankingDataset) -> float | None:
    """Measure a model without its training."""
    metric = parse_metric("ndcg@5")
    scores = forest.score(dataset.features)
    return metric.mean(metric(scores, dataset.labels, dataset.query_boundaries))


def test_measuring_the_loss_does_not_change_the_trees(datasets: Datasets) -> None:
    """The trees are the same with other metric intervals, and without validation data."""
    every = spec_of(boosting="dart", drop_rate=0.5, skip_drop=0.0)
    seldom = replace(every, metric_interval=5)
    assert train(every, *datasets).model_text == train(seldom, *datasets).model_text
    assert train(every, datasets[0]).model_text == train(every, *datasets).model_text


def test_a_tree_without_a_split_leaves_no_tree_dropped(datasets: Datasets) -> None:
    """LightGBM ends such a training with negated trees; ours keeps every tree with its sign."""
    options = {"drop_rate": 0.6, "skip_drop": 0.0, "learning_rate": 0.2, "query_fraction": 0.02}
    hyperparameters = {"num_iterations": 40, "min_gain_to_split": 5.0, **options}
    ranker = train(replace(spec_of("mse", boosting="dart", **hyperparameters), seed=3), *datasets)
    assert 3 < len(ranker.history) < 40
    assert "shrinkage=-" not in ranker.model_text
    scores = Forest.parse(ranker.model_text).score(datasets[0].features)
    errors = 0.5 * (scores - datasets[0].labels) ** 2
    expected = ranker.history[-1].values["train"]["loss"]
    assert errors.sum() / datasets[0].n_queries == pytest.approx(expected)


def test_without_any_split_there_is_one_tree_of_one_leaf(datasets: Datasets) -> None:
    """Other boosting gives such a tree, too."""
    for boosting in ("gbdt", "dart"):
        ranker = train(spec_of(boosting=boosting, min_gain_to_split=1e9), *datasets)
        assert ranker.growth is not None
        assert (ranker.growth.trees, ranker.growth.single_leaf_trees) == (1, 1)


def test_early_stopping_is_refused() -> None:
    """The model of the best iteration cannot be restored after later iterations."""
    values = {
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"boosting": "dart"},
        "early_stopping": {"metric": "ndcg@5", "rounds": 3},
    }
    with pytest.raises(InvalidInput, match="/early_stopping: is not possible with boosting dart"):
        training_spec(values)


def test_a_finding_reports_that_an_attempt_starts_again() -> None:
    """Only dart has this finding."""
    assert not list(resumption_findings(spec_of()))
    (finding,) = resumption_findings(spec_of(boosting="dart"))
    assert "starts again from the first tree" in finding.title
    assert finding.severity == "info"
