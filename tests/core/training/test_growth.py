"""Findings about trainings that grow hardly any trees."""

import dataclasses
from typing import Any, cast

import numpy as np
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.losses import make_loss
from core.training import Checkpoint, IterationReport, Snapshot, TrainedRanker, train, training_spec
from core.training.findings import Growth, growth_finding

QUICK = {"num_iterations": 12, "num_leaves": 7, "min_data_in_leaf": 5}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries that all losses learn from."""
    return synthetic_dataset(40, seed=1, documents_per_query=20, n_features=6)


def trained(dataset: RankingDataset, validation: RankingDataset | None = None, **parts: Any) -> TrainedRanker:
    """Train 12 small trees; `parts` are parts of the specification, and arguments of `train`."""
    hyperparameters = QUICK | parts.pop("hyperparameters", {})
    calls = {name: parts.pop(name, None) for name in ("on_iteration", "resume")}
    spec = {
        "loss": {"name": "lambdarank"},
        "metrics": ["ndcg@5"],
        "hyperparameters": hyperparameters,
        **parts,
    }
    return train(training_spec(spec), dataset, validation, **calls)


def test_a_bound_from_another_loss_is_named(dataset: RankingDataset) -> None:
    """Hessians of pairs weighted by NDCG are small: a bound of 50 allows no split of few queries."""
    loss: dict[str, Any] = {"name": "ndcg-loss2", "truncation_level": 5}
    growth = trained(dataset, loss=loss, hyperparameters={"min_sum_hessian_in_leaf": 50}).growth
    hessian = make_loss(**loss)(
        np.zeros(dataset.n_documents), dataset.labels, dataset.query_boundaries
    ).hessian
    assert growth is not None
    assert growth.end_reason == "min_sum_hessian_in_leaf = 50 allows no split"
    assert (growth.trees, growth.single_leaf_trees, growth.iterations, growth.queries) == (1, 1, 12, 40)
    assert growth.mean_hessian_sum == pytest.approx(hessian.sum() / 40, rel=1e-6)
    finding = growth_finding(growth)
    assert (finding.code, finding.severity) == ("single-leaf-trees", "warning")
    assert finding.title == "A tree has one leaf: min_sum_hessian_in_leaf = 50 allows no split"
    assert (
        f"hessians is {hessian.sum() / 40:.3g} per query and {hessian.sum():.3g} in total" in finding.advice
    )
    # A bound of the mean hessian sum of four queries lets the tree grow.
    fit = {"min_sum_hessian_in_leaf": 4 * growth.mean_hessian_sum}
    assert trained(dataset, loss=loss, hyperparameters=fit).growth is None


@pytest.mark.parametrize("bound", [{"min_data_in_leaf": 500}, {"min_gain_to_split": 1e6}, {"lambda_l1": 1e6}])
def test_the_bound_that_allows_no_split_is_named(dataset: RankingDataset, bound: dict[str, float]) -> None:
    """The named bound is the one without which a tree would have splits."""
    growth = trained(dataset, hyperparameters=bound).growth
    assert growth is not None
    ((name, value),) = bound.items()
    assert growth.end_reason == f"{name} = {value:g} allows no split"


def test_the_search_for_the_bound_does_not_change_the_model(dataset: RankingDataset) -> None:
    """The search grows trees, none of which is kept."""
    ranker = trained(dataset, hyperparameters={"min_data_in_leaf": 500})
    assert ranker.model_text.count("Tree=") == 1
    assert "[min_data_in_leaf: 500]" in ranker.model_text
    assert [report.iteration for report in ranker.history] == [1]


def test_a_first_tree_without_a_split_by_chance_is_reported(dataset: RankingDataset) -> None:
    """Sampled features allow the first tree no split, and later trees have splits; nothing is validated."""
    chance = {"feature_fraction": 0.2, "min_gain_to_split": 3.5}
    ranker = trained(dataset, hyperparameters=chance, seed=6)
    assert len(ranker.history) == 12
    assert ranker.growth is not None
    assert growth_finding(ranker.growth).title == (
        "A tree has one leaf: random choices, such as sampled features, allowed no split"
    )


def test_a_zero_gradient_is_the_reported_reason(dataset: RankingDataset) -> None:
    """A dataset with one label has no pair to learn from."""
    growth = trained(dataset.with_labels(np.zeros_like(dataset.labels))).growth
    assert growth is not None
    assert growth.end_reason == "the loss is at its minimum: the gradient is 0 for every document"
    assert growth.mean_hessian_sum == 0.0


def test_an_early_end_is_reported(dataset: RankingDataset) -> None:
    """A best iteration below 5 on validation data is reported, unless few iterations were requested."""
    training, validation = split_queries(dataset, 0.3, seed=1)
    backwards = validation.with_labels(validation.labels.max() - validation.labels)
    stopping = {
        "early_stopping": {"metric": "ndcg@5", "rounds": 3},
        "hyperparameters": {"num_iterations": 40},
    }
    ranker = trained(training, backwards, **stopping)
    assert ranker.growth is not None
    assert ranker.growth.trees == ranker.best_iteration < 5
    assert ranker.growth.end_reason == f"ndcg@5 on the validation data was best after {ranker.best_iteration}"
    finding = growth_finding(ranker.growth)
    assert finding.code == "early-end"
    assert "take a smaller learning_rate or fewer leaves" in finding.advice
    assert trained(training).growth is None
    few = trained(training, backwards, hyperparameters={"num_iterations": 4})
    assert few.best_iteration < 4
    assert few.growth is None, "few iterations were requested"


def test_the_last_tree_is_measured(dataset: RankingDataset) -> None:
    """A training that finds no further split between two measured iterations measures its last tree."""
    training, validation = split_queries(dataset, 0.3, seed=1)
    bound = {"hyperparameters": {"min_gain_to_split": 6.0, "num_iterations": 200}}
    each = trained(training, validation, **bound)
    last = len(each.history)
    assert 2 < last < 199
    reported: list[IterationReport] = []
    checkpoints: list[Checkpoint] = []

    def on_iteration(report: IterationReport, snapshot: Snapshot) -> None:
        reported.append(report)
        checkpoints.append(cast("Checkpoint", snapshot()))

    spec: dict[str, Any] = {**bound, "metric_interval": last - 1}
    sparse = trained(training, validation, on_iteration=on_iteration, **spec)
    assert [report.iteration for report in sparse.history if report.values] == [last - 1, last]
    assert sparse.history[-1] == reported[-1]
    assert sparse.history[-1].values == each.history[-1].values
    for checkpoint in checkpoints[-2:]:
        resumed = trained(training, validation, resume=checkpoint, **spec)
        assert resumed.model_text == sparse.model_text
        assert resumed.history == sparse.history


def test_trees_of_the_initial_model_are_not_counted(dataset: RankingDataset) -> None:
    """The initial model has one tree, with one leaf; the continued training grows ordinary trees."""
    base = trained(dataset, hyperparameters={"min_data_in_leaf": 500}).model_text
    start = Checkpoint.of_model(base, {"train": dataset}, 1)
    spec = {"loss": {"name": "lambdarank"}, "hyperparameters": QUICK}
    ranker = train(training_spec(spec), dataset, resume=start)
    assert ranker.base_trees == 1
    assert ranker.growth is None


def test_titles_have_singular_and_plural() -> None:
    """A title begins with the number of trees or iterations."""
    growth = Growth(3, 0, 100, "ndcg@5 on the validation data was best after 3", 0.25, 8, is_exhausted=False)
    assert growth_finding(growth).title == (
        "Only 3 of 100 iterations improved the model: ndcg@5 on the validation data was best after 3"
    )
    many = dataclasses.replace(growth, single_leaf_trees=2)
    assert growth_finding(many).title.startswith("2 trees have one leaf: ")
