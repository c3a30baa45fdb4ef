"""Training: repeatable, stoppable, and better than random scores."""

import re
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.diagnostics import DIAGNOSTICS, diagnose
from core.errors import InvalidInput, JobCancelled
from core.evaluation import evaluate
from core.losses import LOSSES
from core.metrics import PRESETS
from core.scoring import Forest
from core.training import IterationReport, Snapshot, TrainingSpec, train, training_spec


@pytest.fixture(scope="module")
def datasets() -> tuple[RankingDataset, RankingDataset]:
    """A small synthetic training set and its held-out queries."""
    return split_queries(synthetic_dataset(60, seed=1, n_features=20), fraction=0.33, seed=1)


def small_spec(name: str = "lambdarank", **parts: object) -> TrainingSpec:
    """Return the specification of a quick training."""
    return training_spec(
        {
            "loss": {"name": name},
            "hyperparameters": {"num_iterations": 12, "num_leaves": 7, "min_data_in_leaf": 5},
            "metrics": ["ndcg@5", "map"],
            **parts,
        }
    )


@pytest.mark.long
@pytest.mark.parametrize("name", LOSSES)
def test_the_same_job_gives_the_same_bytes_on_any_number_of_threads(
    name: str, datasets: tuple[RankingDataset, RankingDataset]
) -> None:
    """Same specification, data and seed: the same model text with 1 and with 2 threads, sampling included."""
    sampling = {"num_iterations": 6, "bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.6}
    spec = small_spec(name, hyperparameters=sampling)
    texts = {train(spec, *datasets, threads=threads).model_text for threads in (1, 2)}
    assert len(texts) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", LOSSES)
def test_training_ranks_better_than_chance(
    name: str, datasets: tuple[RankingDataset, RankingDataset]
) -> None:
    """A trained model beats random scores clearly on the queries that selected its best iteration."""
    _, held_out = datasets
    ranker = train(small_spec(name), *datasets)
    scores = Forest.parse(ranker.model_text).score(held_out.features)
    chance = np.random.default_rng(0).normal(size=held_out.n_documents)
    trained, random = (evaluate(s, held_out, ["ndcg@10"]).summaries["ndcg@10"].mean for s in (scores, chance))
    assert trained is not None
    assert random is not None
    assert trained > random + 0.08


def test_history_has_the_metrics_of_the_stored_model(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """The reported validation metric at the best iteration is the stored model's own."""
    ranker = train(small_spec(), *datasets)
    scores = Forest.parse(ranker.model_text).score(datasets[1].features)
    mean = evaluate(scores, datasets[1], ["ndcg@5"]).summaries["ndcg@5"].mean
    reported = [report.values["validation"]["ndcg@5"] or 0.0 for report in ranker.history]
    assert mean == pytest.approx(reported[ranker.best_iteration - 1])
    assert ranker.best_iteration == int(np.argmax(reported)) + 1
    assert Forest.parse(ranker.model_text).n_trees == ranker.best_iteration


def test_infinite_and_missing_features_are_scored_as_in_training() -> None:
    """The values inf, -inf and nan follow the same branches of the trees in training and in scoring."""
    dataset = synthetic_dataset(60, seed=1, n_features=8)
    generator = np.random.default_rng(0)
    features = dataset.matrix.copy()
    for value in (np.inf, -np.inf, np.nan, 3e38):
        features[generator.random(features.shape) < 0.1] = value
    training, validation = split_queries(dataset.with_features(features, dataset.feature_names), 0.3, seed=1)
    ranker = train(small_spec(), training, validation)
    scores = Forest.parse(ranker.model_text).score(validation.features)
    mean = evaluate(scores, validation, ["ndcg@5"]).summaries["ndcg@5"].mean
    assert mean == ranker.history[ranker.best_iteration - 1].values["validation"]["ndcg@5"]


def test_early_stopping_ends_after_the_given_rounds(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Training ends exactly `rounds` iterations after the best one."""
    hyperparameters = {"num_iterations": 400, "learning_rate": 0.5, "num_leaves": 15}
    spec = small_spec(hyperparameters=hyperparameters, early_stopping={"metric": "ndcg@3", "rounds": 5})
    ranker = train(spec, *datasets)
    assert len(ranker.history) == ranker.best_iteration + 5 < 400
    assert "ndcg@3" in ranker.history[0].values["validation"]


@pytest.mark.parametrize("interval", [8, 5, 3])
def test_early_stopping_waits_for_a_measurement(
    datasets: tuple[RankingDataset, RankingDataset], interval: int
) -> None:
    """A measured iteration is kept, and no training ends before its second measurement."""
    spec = small_spec(
        hyperparameters={"num_iterations": 400, "learning_rate": 0.5, "num_leaves": 15},
        early_stopping={"metric": "ndcg@3", "rounds": 5},
        metric_interval=interval,
    )
    ranker = train(spec, *datasets)
    measured = [report.iteration for report in ranker.history if report.values]
    assert ranker.best_iteration in measured
    assert len(ranker.history) == ranker.best_iteration + max(5, interval) < 400


def test_without_validation_every_iteration_is_kept(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """No validation metric selects a best iteration, so all are kept."""
    ranker = train(small_spec(), datasets[0])
    assert ranker.best_iteration == 12
    assert set(ranker.history[0].values) == {"train"}


def test_a_callback_can_stop_the_training(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """An exception of the callback ends the training immediately: that is how a job is cancelled."""
    seen = []

    def stop_at_three(report: IterationReport, _: Snapshot) -> None:
        seen.append(report.iteration)
        if report.iteration == 3:
            raise JobCancelled("job_1")

    with pytest.raises(JobCancelled):
        train(small_spec(), *datasets, on_iteration=stop_at_three)
    assert seen == [1, 2, 3]


def test_data_without_anything_to_learn_gives_a_model() -> None:
    """Labels all zero: no gradient, no split, no crash, a model whose scores are all equal."""
    generator = np.random.default_rng(0)
    dataset = RankingDataset.from_arrays(
        features=generator.normal(size=(60, 3)).astype(np.float32),
        labels=np.zeros(60, np.float32),
        query_boundaries=np.arange(0, 61, 10),
    )
    ranker = train(small_spec(), dataset)
    assert len(set(Forest.parse(ranker.model_text).score(dataset.features))) == 1


def test_early_stopping_without_validation_is_refused(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """There would be no metric to stop on."""
    spec = small_spec(early_stopping={"metric": "ndcg@5", "rounds": 5})
    with pytest.raises(InvalidInput, match="/early_stopping: needs validation data"):
        train(spec, datasets[0])


def test_the_error_of_a_specification_lists_all_problems() -> None:
    """Each problem has its own JSON pointer."""
    with pytest.raises(InvalidInput) as caught:
        training_spec(
            {
                "loss": {"name": "lambdarank", "sigma": -1},
                "hyperparameters": {"num_leaves": 1, "bagging_by_query": True, "learning_rate": "fast"},
                "metrics": ["ndcg@5", "ndgc"],
                "early_stopping": {"metric": "ndcg@5", "rounds": 0},
                "seed": -1,
            }
        )
    assert sorted(problem.pointer for problem in caught.value.problems) == [
        "/early_stopping/rounds",
        "/hyperparameters/bagging_by_query",
        "/hyperparameters/learning_rate",
        "/hyperparameters/num_leaves",
        "/loss/sigma",
        "/metrics/1",
        "/seed",
    ]


def test_the_model_text_does_not_name_the_thread_count(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """The number of threads is a property of the machine, not of the model."""
    text = train(small_spec(), *datasets, threads=2).model_text
    assert re.findall(r"\[num_threads: (\d+)\]", text) == ["0"]


def test_data_without_a_varying_feature_is_refused_in_a_sentence() -> None:
    """The error of LightGBM's internal check is translated into advice."""
    dataset = RankingDataset.from_arrays(
        features=np.zeros((60, 3), np.float32),
        labels=np.tile(np.array([0, 1], np.float32), 30),
        query_boundaries=np.arange(0, 61, 10),
    )
    with pytest.raises(InvalidInput, match="/dataset_id: no feature of the training data varies"):
        train(small_spec(), dataset)


def test_bagging_that_draws_no_document_is_refused_by_its_name() -> None:
    """The error names the hyperparameter, since the same data can be trained on without it."""
    hyperparameters = {"bagging_fraction": 0.3, "bagging_freq": 1}
    spec = training_spec({"loss": {"name": "mse"}, "hyperparameters": hyperparameters})
    dataset = synthetic_dataset(1, seed=1, n_features=1, documents_per_query=2)
    with pytest.raises(InvalidInput, match="/hyperparameters/bagging_fraction: draws no document"):
        train(spec, dataset)


def test_small_data_trains_where_no_split_satisfies_every_bound() -> None:
    """Few documents with min_data_in_leaf 20 give a tree of one leaf, not an error."""
    ranker = train(
        training_spec({"loss": {"name": "lambdarank"}}),
        synthetic_dataset(1, seed=1, n_features=5, documents_per_query=30),
    )
    assert ranker.growth is not None
    assert (ranker.growth.trees, ranker.growth.single_leaf_trees) == (1, 1)


@pytest.mark.parametrize(
    "loss",
    [
        {"name": "ndcg-loss2++"},
        {"name": "rankboost"},
        {"name": "mse"},
        {"name": "listmle"},
        {"name": "lambdarank", "truncation_level": 5, "pair_selection": "random"},
    ],
    ids=lambda loss: loss["name"],
)
def test_measuring_the_loss_changes_nothing(
    loss: dict[str, Any], datasets: tuple[RankingDataset, RankingDataset]
) -> None:
    """The gradient computed with the loss is used for the next tree, so the model has the same bytes."""
    always, often, seldom = (
        train(small_spec(loss=loss, metric_interval=interval), datasets[0]) for interval in (1, 3, 1000)
    )
    assert [bool(report.values) for report in seldom.history] == [False] * 11 + [True]
    assert [set(report.milliseconds) for report in seldom.history[-2:]] == [
        {"objective", "tree"},
        {"objective", "tree", "metrics"},
    ]
    assert always.model_text == often.model_text == seldom.model_text
    assert always.history[-1].values == seldom.history[-1].values


def test_diagnostics_are_measured_and_change_nothing(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """The first iteration, every fifth after it and the last are measured; the model is the same."""
    watched = train(small_spec(diagnostics={"interval": 5, "cutoff": 3}, metric_interval=4), *datasets)
    seen = {report.iteration for report in watched.history if "diagnostics" in report.values}
    assert seen == {1, 6, 11, 12}
    first = watched.history[0].values["diagnostics"]
    assert set(first) == set(DIAGNOSTICS)
    assert first["broken-bounds"] == 0.0
    assert watched.model_text == train(small_spec(metric_interval=4), *datasets).model_text


@pytest.mark.parametrize(
    "sampling", [{}, {"query_fraction": 0.3}, {"data_sample_strategy": "goss", "learning_rate": 0.9}]
)
def test_diagnostics_are_those_of_the_loss(
    datasets: tuple[RankingDataset, RankingDataset], sampling: dict[str, Any]
) -> None:
    """Those of the second iteration have the scores of the first tree, and no sampled gradient."""
    training, _ = datasets
    small = {"num_leaves": 7, "min_data_in_leaf": 5} | sampling
    diagnostics = {"interval": 1, "cutoff": 3}
    watched = small_spec(diagnostics=diagnostics, hyperparameters=small | {"num_iterations": 2})
    found = train(watched, training).history[1].values["diagnostics"]
    spec = small_spec(hyperparameters=small | {"num_iterations": 1})
    scores = Forest.parse(train(spec, training).model_text).score(training.features)
    expected = diagnose(spec.loss, scores, training.labels, training.query_boundaries, cutoff=3, iteration=1)
    assert found["incoherent-queries"] == pytest.approx(expected["incoherent-queries"])
    assert found["strictly-incoherent-queries"] == pytest.approx(expected["strictly-incoherent-queries"])


def test_metrics_follow_the_contract(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Metrics that a training reports equal those of an evaluation under the same contract."""
    training, held_out = datasets
    ranker = train(small_spec(contract="letor"), training, held_out)
    scores = Forest.parse(ranker.model_text).score(held_out.features)
    means = evaluate(scores, held_out, ["ndcg@5"], PRESETS["letor"]).means
    reported = ranker.history[ranker.best_iteration - 1].values["validation"]["ndcg@5"]
    assert reported == pytest.approx(means["ndcg@5"])
    assert reported != pytest.approx(evaluate(scores, held_out, ["ndcg@5"]).means["ndcg@5"])


@pytest.mark.parametrize(
    ("diagnostics", "pointer"),
    [
        ({"interval": 0}, "/diagnostics/interval"),
        ({"cutoff": 5}, "/diagnostics/interval"),
        ({"interval": 1, "cutoff": 2.5}, "/diagnostics/cutoff"),
    ],
)
def test_a_plan_of_diagnostics_is_checked(diagnostics: dict[str, object], pointer: str) -> None:
    """Each fault is refused with its pointer."""
    with pytest.raises(InvalidInput) as caught:
        small_spec(diagnostics=diagnostics)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
