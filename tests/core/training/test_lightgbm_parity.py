"""Our lambdarank compared with LightGBM's built-in objective, and pitfalls of LightGBM."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import core.training.grower
from core.data import RankingDataset, split_queries, synthetic_dataset
from core.errors import InvalidInput
from core.losses import make_loss
from core.metrics import parse_metric
from core.training import train, training_spec

ITERATIONS = 50
SETTINGS: dict[str, Any] = {"learning_rate": 0.1, "num_leaves": 31, "min_data_in_leaf": 20}


@pytest.fixture(scope="module")
def datasets() -> tuple[RankingDataset, RankingDataset]:
    """Training and validation queries."""
    # If two candidates of a split tie within the sigmoid table's precision, all later trees differ.
    return split_queries(synthetic_dataset(300, seed=5), fraction=0.3, seed=2)


def built_in(
    dataset: RankingDataset, truncation_level: int, iterations: int = ITERATIONS
) -> lightgbm.Booster:
    """Train LightGBM's own lambdarank with its default normalisation."""
    parameters = {
        **SETTINGS,
        "objective": "lambdarank",
        "lambdarank_truncation_level": truncation_level,
        "deterministic": True,
        "force_col_wise": True,
        "feature_pre_filter": False,
        "num_threads": 1,
        "verbosity": -1,
    }
    group = np.diff(dataset.query_boundaries)
    return lightgbm.train(
        parameters, lightgbm.Dataset(dataset.matrix, dataset.labels, group=group), iterations
    )


def split_features(booster: lightgbm.Booster, trees: int) -> list[list[int]]:
    """Return the split features of the first trees, in the order of the model text."""
    lines = re.findall(r"^split_feature=(.*)$", booster.model_to_string(), re.MULTILINE)
    return [[int(feature) for feature in line.split()] for line in lines[:trees]]


@pytest.mark.long
@pytest.mark.parametrize("truncation_level", [pytest.param(30, marks=pytest.mark.slow), 5])
def test_lambdarank_with_lightgbms_normalisation_grows_its_trees(
    truncation_level: int, datasets: tuple[RankingDataset, RankingDataset]
) -> None:
    """At least 95% of the first ten trees' splits on the same feature; NDCG@10 within 0.002 after 50."""
    training, validation = datasets
    theirs = built_in(training, truncation_level)
    spec = training_spec(
        {
            "loss": {
                "name": "lambdarank",
                "normalization": "lightgbm",
                "truncation_level": truncation_level,
            },
            "hyperparameters": {**SETTINGS, "num_iterations": ITERATIONS},
        }
    )
    ours = lightgbm.Booster(model_str=train(spec, training).model_text)
    pairs = zip(split_features(theirs, 10), split_features(ours, 10), strict=True)
    same = [a == b for tree, other in pairs for a, b in zip(tree, other, strict=True)]
    assert np.mean(same) >= 0.95
    means = [
        np.nanmean(
            parse_metric("ndcg@10")(
                np.asarray(booster.predict(validation.matrix, raw_score=True)),
                validation.labels,
                validation.query_boundaries,
            )
        )
        for booster in (theirs, ours)
    ]
    assert abs(means[0] - means[1]) < 0.002


@pytest.mark.long
def test_the_first_tree_scores_as_that_of_the_built_in_objective(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """Scores agree to 0.1%: LightGBM's sigmoid table is exact for equal scores, as before the first tree."""
    training, _ = datasets
    theirs = built_in(training, 30, iterations=1).predict(training.matrix, raw_score=True)
    loss = {"name": "lambdarank", "normalization": "lightgbm", "truncation_level": 30}
    spec = training_spec({"loss": loss, "hyperparameters": {**SETTINGS, "num_iterations": 1}})
    ours = lightgbm.Booster(model_str=train(spec, training).model_text)
    np.testing.assert_allclose(ours.predict(training.matrix), theirs, rtol=1e-3, atol=1e-4)


def test_query_weights_reach_the_model(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """LightGBM applies no weights to a custom objective; ours multiplies them itself."""
    training, _ = datasets
    weights = np.where(np.arange(training.n_queries) % 2 == 0, 1.0, 0.0)
    weighted = RankingDataset.from_arrays(
        features=training.matrix,
        labels=training.labels,
        query_boundaries=training.query_boundaries,
        query_weights=weights,
    )
    halved = training.select_queries(np.flatnonzero(weights))
    spec = training_spec(
        {
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"num_iterations": 1, "min_data_in_leaf": 1, "num_leaves": 4},
        }
    )
    first = [
        lightgbm.Booster(model_str=train(spec, data).model_text).dump_model()["tree_info"][0]
        for data in (weighted, training)
    ]
    assert first[0] != first[1]
    gradient, _ = make_loss("lambdarank").prepare(
        weighted.labels, weighted.query_boundaries, weighted.query_weights
    )(np.zeros(weighted.n_documents), 0)
    alone, _ = make_loss("lambdarank").prepare(halved.labels, halved.query_boundaries)(
        np.zeros(halved.n_documents), 0
    )
    kept = np.repeat(weights > 0, np.diff(weighted.query_boundaries))
    np.testing.assert_array_equal(gradient[kept], alone)
    assert not gradient[~kept].any()


def test_bagging_by_query_is_refused() -> None:
    """With a custom objective LightGBM corrupts scores; sampling by query is not offered."""
    with pytest.raises(InvalidInput) as caught:
        training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"bagging_by_query": True}})
    assert caught.value.problems[0].pointer == "/hyperparameters/bagging_by_query"


def test_the_grower_calls_neither_train_nor_cv_of_lightgbm() -> None:
    """`lightgbm.train` would deep-copy the objective with its caches, `lightgbm.cv` would split queries."""
    source = Path(core.training.grower.__file__).read_text()
    assert "Booster" in source
    assert not re.search(r"lightgbm\.(train|cv|LGBM\w+)\(", source)


def test_loss_is_recorded_at_the_metric_interval_and_falls(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """History holds the mean training loss beside the metrics, every so many iterations and at the last."""
    spec = training_spec(
        {
            "loss": {"name": "ndcg-loss2++"},
            "hyperparameters": {"num_iterations": 14},
            "metric_interval": 4,
        }
    )
    ranker = train(spec, *datasets)
    measured = [report.iteration for report in ranker.history if report.values]
    assert measured == [4, 8, 12, 14]
    assert len(ranker.history) == 14
    losses = [report.values["train"]["loss"] or 0.0 for report in ranker.history if report.values]
    assert losses == sorted(losses, reverse=True)
    assert ranker.best_iteration in measured
    assert "loss" not in ranker.history[-1].values["validation"]


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_xe_ndcg_learns_from_queries_of_one_label_as_the_built_in_does(label: float) -> None:
    """LightGBM's rank_xendcg skips queries of one document only: both grow a tree on all-equal labels."""
    judged = synthetic_dataset(60, seed=3, n_features=10)
    labels = np.full(judged.n_documents, label, np.float32)
    binned = lightgbm.Dataset(judged.matrix, labels, group=np.diff(judged.query_boundaries))
    built_in = lightgbm.train({**SETTINGS, "objective": "rank_xendcg", "verbosity": -1}, binned, 3)
    spec = training_spec({"loss": {"name": "xe-ndcg"}, "hyperparameters": {**SETTINGS, "num_iterations": 3}})
    ours = lightgbm.Booster(model_str=train(spec, replace(judged, labels=labels)).model_text)
    for booster in (built_in, ours):
        assert np.ptp(booster.predict(judged.matrix)) > 0.0
