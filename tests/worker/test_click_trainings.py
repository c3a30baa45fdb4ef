"""Jobs that simulate logs, estimate propensities, and train on the logs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.clicks.simulation import SimulationPlan, simulate
from core.clicks.users import UserModel
from core.data import RankingDataset, split_queries
from core.data.texts import Texts
from core.store import Job
from tests.worker.inline_worker import InlineWorker

RANKS = 6


def judged() -> RankingDataset:
    """Return documents whose second feature lowers the label; the production ranker ranks by this feature."""
    stream = np.random.default_rng(0)
    features = stream.normal(size=(120 * RANKS, 3)).round(3)
    labels = np.clip(np.round(2 + 1.2 * features[:, 0] - features[:, 1]), 0, 4)
    return RankingDataset.from_arrays(features, labels, np.arange(121) * RANKS)


def simulate_log(
    inline_worker: InlineWorker,
    dataset_id: str,
    swaps: str = "first",
    rankers: Sequence[Any] = ({"system": "f2"},),
) -> tuple[str, Job]:
    """Simulate a log, and return its id and the job."""
    with inline_worker.store.begin() as tx:
        log = tx.click_logs.add("simulated", {"kind": "simulation"})
        spec = {
            "kind": "simulate-clicks",
            "click_log_id": log.id,
            "log_name": "simulated",
            "dataset_id": dataset_id,
            "rankers": list(rankers),
            "user_model": {},
            "lists": 4_000,
            "swaps": swaps,
            "swap_share": 0.5,
        }
        job = tx.jobs.add("simulate-clicks", spec)
        tx.click_logs.attach_job(log.id, job.id)
        log_id = log.id
    return log_id, inline_worker.run_queued(job.id)


def test_an_absent_feature_is_named_by_its_position_in_the_request(inline_worker: InlineWorker) -> None:
    """The request has models and features in separate lists, and the models come first in the job."""
    dataset_id = inline_worker.add(judged(), "judged")
    model_id = inline_worker.training_result(dataset_id)["model_id"]
    rankers = [{"system": "web:1", "model_id": model_id}, {"system": "f1"}, {"system": "f9"}]
    _, job = simulate_log(inline_worker, dataset_id, rankers=rankers)
    assert job.problem is not None
    assert job.problem["errors"] == [
        {"pointer": "/features/1", "detail": "'f9' is not a feature of the dataset"}
    ]


def test_a_corrected_model_is_better_than_the_naive_one(inline_worker: InlineWorker) -> None:
    """A log is simulated, propensities estimated, and a corrected model compared with the naive one."""
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, job = simulate_log(inline_worker, dataset_id)
    assert job.status == "succeeded", job.problem
    with inline_worker.store.read() as tx:
        log = tx.click_logs.get(log_id)
    assert log.statistics is not None
    dataset = judged()
    plan = SimulationPlan(lists=4_000, swaps="first", swap_share=0.5)
    expected, truth = simulate(dataset, [dataset.matrix[:, 1]], UserModel(), plan)
    assert log.statistics["clicks"] == expected.clicks.sum()
    assert inline_worker.store.artifacts.exists(f"{log.folder}/truth.npz")
    assert job.result is not None
    assert job.result["truth"]["propensities"] == pytest.approx(truth.propensities.tolist())

    with inline_worker.store.begin() as tx:
        added = tx.jobs.add(
            "propensity", {"click_log_id": log_id, "method": "pivot", "positions": RANKS, "resamples": 20}
        )
    estimated = inline_worker.run_queued(added.id)
    assert estimated.status == "succeeded", estimated.problem
    assert estimated.result is not None
    propensities = estimated.result["propensities"]
    assert propensities == pytest.approx(truth.propensities.tolist(), abs=0.2)
    assert estimated.result["lower"][1] < propensities[1] < estimated.result["upper"][1]

    clicks = {"log": log_id, "correction": "ips", "propensities": propensities}
    hyperparameters = {"num_iterations": 8, "num_leaves": 6}
    result = inline_worker.training_result(
        dataset_id, clicks=clicks, hyperparameters=hyperparameters, test_dataset_id=dataset_id
    )
    naive = result["naive"]
    assert naive["data"] == "test"
    assert not naive["by_clicks"]
    assert naive["queries"] == 120
    assert naive["corrected"] > naive["naive"]
    plain = inline_worker.training_result(
        dataset_id, clicks={"log": log_id}, hyperparameters=hyperparameters, test_dataset_id=dataset_id
    )
    assert "naive" not in plain
    with inline_worker.store.read() as tx:
        means = [(tx.models.get(each["model_id"]).metrics or {})["ndcg@5"] for each in (result, plain)]
        training = tx.jobs.get(tx.models.get(result["model_id"]).job_id)
    assert means == pytest.approx([naive["corrected"], naive["naive"]])
    codes = [finding["code"] for finding in training.findings or ()]
    assert "click-weights" in codes
    assert "label-scale" not in codes  # the test data are judgments, whose grades differ from clicks
    assert "click-correction" in codes


def test_impressions_without_features_are_reported(inline_worker: InlineWorker) -> None:
    """The finding is on the training data: half of the log's queries are not in the dataset."""
    log_id, _ = simulate_log(inline_worker, inline_worker.add(judged(), "judged"))
    half_id = inline_worker.add(judged().select_queries(range(60)), "half")
    options = {"num_iterations": 2, "num_leaves": 6}
    job = inline_worker.train(half_id, clicks={"log": log_id}, hyperparameters=options)
    assert job.status == "succeeded", job.problem
    findings = [(finding["code"], finding.get("role")) for finding in job.findings or ()]
    assert ("documents-without-features", "train") in findings


def test_judged_validation_data_are_not_compared_with_clicks(inline_worker: InlineWorker) -> None:
    """Their grades differ from clicks; a finding about different label scales would be wrong."""
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, _ = simulate_log(inline_worker, dataset_id)
    job = inline_worker.train(
        dataset_id,
        clicks={"log": log_id},
        hyperparameters={"num_iterations": 2, "num_leaves": 6},
        validation={"dataset_id": dataset_id},
    )
    assert job.status == "succeeded", job.problem
    assert "label-scale" not in [finding["code"] for finding in job.findings or ()]


@pytest.mark.parametrize(("correction", "estimated"), [("ips", True), ("additive", False)])
def test_without_judgments_held_out_clicks_estimate_the_metric(
    inline_worker: InlineWorker, correction: str, estimated: bool
) -> None:
    """Held-out clicks estimate the metric with propensities; otherwise the comparison is biased.

    A query has many lists of clicks, so that the comparison counts lists. The clicks do not select the best
    iteration, which would be one of few trees, whose scores are close to the logged ranking.
    """
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, simulation = simulate_log(inline_worker, dataset_id)
    assert simulation.result is not None
    propensities = {"propensities": simulation.result["truth"]["propensities"]} if estimated else {}
    job = inline_worker.train(
        dataset_id,
        clicks={"log": log_id, "correction": correction, **propensities},
        hyperparameters={"num_iterations": 8, "num_leaves": 6},
        validation={"fraction": 0.3},
    )
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    with inline_worker.store.read() as tx:
        assert tx.models.get(job.result["model_id"]).best_iteration == 8
    naive = job.result["naive"]
    assert (naive["data"], naive["by_clicks"], naive["estimated"]) == ("validation", True, estimated)
    (finding,) = [each for each in job.findings or () if each["code"] == "click-correction"]
    assert f"({naive['queries']:,} lists, p" in naive["sentence"]
    assert finding["unit"] == "lists"
    if estimated:
        assert naive["metric"] == "dcg@5"
        assert naive["missing"] is None
        assert naive["corrected"] > naive["naive"]
        assert naive["sentence"].endswith("; the lists of one user count as independent.")
        assert finding["severity"] == "info"
    else:
        assert naive["metric"] == "ndcg@5"
        assert "the same position bias" in naive["sentence"]
        assert finding["severity"] == "warning"


def test_judged_validation_data_with_a_column_of_ranks_select_the_best_iteration(
    inline_worker: InlineWorker,
) -> None:
    """The ranks are not those of the log, so that the labels are judgments and not held-out clicks."""
    dataset = judged()
    dataset_id = inline_worker.add(dataset, "judged")
    log_id, _ = simulate_log(inline_worker, dataset_id)
    ranks = Texts.of([str(rank) for rank in np.tile(np.arange(1, RANKS + 1), dataset.n_queries)])
    with_ranks = replace(dataset, document_columns={"rank": ranks})
    iterations = []
    for validation in (dataset_id, inline_worker.add(with_ranks, "ranked")):
        result = inline_worker.training_result(
            dataset_id,
            clicks={"log": log_id, "correction": "additive"},
            hyperparameters={"num_iterations": 30, "num_leaves": 6, "learning_rate": 0.5},
            validation={"dataset_id": validation},
        )
        with inline_worker.store.read() as tx:
            iterations.append(tx.models.get(result["model_id"]).best_iteration)
    assert iterations[0] == iterations[1] < 30


def test_the_naive_model_is_trained_like_the_corrected_one(inline_worker: InlineWorker) -> None:
    """The naive model has the number of trees that cross-validation chose, and continues the same model."""
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, _ = simulate_log(inline_worker, dataset_id)
    inline_worker.training_result(dataset_id, model_name="net", scorer={"kind": "linear"}, hyperparameters={})
    hyperparameters = {"num_iterations": 30, "num_leaves": 6, "learning_rate": 0.5}
    by_folds = {"validation": {"folds": 2}, "early_stopping": {"metric": "ndcg@5", "rounds": 2}}
    continued = {"init_model": "net:1"}
    for options, naive_options in ((by_folds, {}), (continued, continued)):
        result = inline_worker.training_result(
            dataset_id,
            clicks={"log": log_id, "correction": "additive"},
            hyperparameters=hyperparameters,
            test_dataset_id=dataset_id,
            **options,
        )
        with inline_worker.store.read() as tx:
            iterations = tx.models.get(result["model_id"]).best_iteration
        assert (iterations < 30) == (options is by_folds)
        naive = inline_worker.training_result(
            dataset_id,
            clicks={"log": log_id},
            hyperparameters=hyperparameters | {"num_iterations": iterations},
            test_dataset_id=dataset_id,
            **naive_options,
        )
        with inline_worker.store.read() as tx:
            means = tx.models.get(naive["model_id"]).metrics or {}
        assert result["naive"]["naive"] == pytest.approx(means["ndcg@5"])


def test_ranks_of_held_out_clicks_are_checked_before_the_training(inline_worker: InlineWorker) -> None:
    """If only held-out lists need an absent propensity, the job fails before the first tree."""
    dataset = judged()
    _, held_out = split_queries(dataset, 0.3, seed=42)
    is_held_out = np.isin(dataset.query_ids, held_out.query_ids)
    ranks = np.tile(np.arange(1, RANKS + 1), dataset.n_queries) + np.repeat(is_held_out, RANKS)
    shown = replace(dataset, document_columns={"rank": Texts.of([str(rank) for rank in ranks])})
    dataset_id = inline_worker.add(shown, "shown")
    clicks = {"correction": "ips", "propensities": [1.0 / rank for rank in range(1, RANKS + 1)]}
    job = inline_worker.train(dataset_id, clicks=clicks, validation={"fraction": 0.3})
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["errors"][0]["pointer"] == "/clicks/propensities"
    assert f"shown at rank {RANKS + 1}" in job.problem["errors"][0]["detail"]
    with inline_worker.store.read() as tx:
        assert not tx.jobs.iterations(job.id)


def test_a_dual_training_reports_its_propensities(inline_worker: InlineWorker) -> None:
    """A job that learns propensities with the model reports them."""
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, simulation = simulate_log(inline_worker, dataset_id, "none")
    assert simulation.result is not None
    result = inline_worker.training_result(
        dataset_id,
        loss={"name": "listnet"},
        clicks={"log": log_id, "correction": "dual", "step": 0.3},
        hyperparameters={"num_iterations": 40, "num_leaves": 6, "learning_rate": 0.3},
        test_dataset_id=dataset_id,
    )
    assert result["propensities"] == pytest.approx(simulation.result["truth"]["propensities"], abs=0.2)
    assert result["naive"]["corrected"] > result["naive"]["naive"]


def test_a_job_on_a_log_without_movement_fails(inline_worker: InlineWorker) -> None:
    """A job on a log whose documents never change rank fails with the reason."""
    dataset_id = inline_worker.add(judged(), "judged")
    log_id, _ = simulate_log(inline_worker, dataset_id, "none")
    with inline_worker.store.begin() as tx:
        added = tx.jobs.add("propensity", {"click_log_id": log_id, "method": "all-pairs"})
    job = inline_worker.run_queued(added.id)
    assert job.status == "failed"
    assert "no document was shown at more than one rank" in str(job.problem)
