"""Aliases that move by a counterfactual estimate on a click log, without judgments."""

from typing import Any

import pytest

from app.models.alias_schemas import GateRequest
from app.models.promotion import gate_rule, promotion
from core.data import RankingDataset, synthetic_dataset
from core.errors import InvalidInput
from core.store import Job
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects
from core.store.trash.kinds import KINDS
from tests.worker.inline_worker import InlineWorker
from tests.worker.test_click_logs import ingested
from tests.worker.test_counterfactual import clicks_on


@pytest.fixture
def dataset() -> RankingDataset:
    """Queries of three documents."""
    return synthetic_dataset(12, seed=1, documents_per_query=3, n_features=4)


def promote(inline_worker: InlineWorker, version: int, **rule: Any) -> Job:
    """Move the alias to a version through a gate."""
    request = GateRequest.model_validate({"counterfactual": {"metric": "dcg@3", **rule}})
    with inline_worker.store.begin() as tx:
        tx.aliases.set_gate("web", "champion", dataset_id=None, rule=gate_rule(tx, request))
        row, gate = tx.aliases.get("web", "champion"), tx.aliases.gate("web", "champion")
        job = tx.enqueue(promotion(row, tx.models.resolve(f"web:{version}"), gate))
    return inline_worker.run_queued(job.id)


def refusal(job: Job) -> str:
    """Return the reason of a refusal by a gate."""
    assert job.status == "refused", job.problem
    assert job.problem is not None
    return str(job.problem["detail"])


def test_the_alias_moves_by_an_estimate(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """A better version is promoted with its numbers in the history; the log and dataset are protected."""
    reversed_labels = dataset.with_labels(dataset.labels.max() - dataset.labels)
    quick = {"num_iterations": 20, "min_data_in_leaf": 1}
    inline_worker.training_result(inline_worker.add(reversed_labels, "reversed"), hyperparameters=quick)
    dataset_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(dataset_id, hyperparameters=quick)
    with inline_worker.store.begin() as tx:
        tx.aliases.move("web", "champion", 2)
    log = ingested(inline_worker, clicks_on(dataset))
    rule = {"click_log_id": log.id, "dataset_id": dataset_id}
    assert refusal(promote(inline_worker, 1, **rule)).startswith(
        "web:2 is better than web:1 by dcg@3, estimated"
    )
    lenient = promote(inline_worker, 1, **rule, margin=10.0)
    assert lenient.status == "succeeded", lenient.problem
    promoted = promote(inline_worker, 2, **rule)
    assert promoted.status == "succeeded", promoted.problem
    with inline_worker.store.read() as tx:
        assert tx.models.resolve("web@champion").version == 2
        report = tx.aliases.history("web", "champion", None, 1).items[0].report
    assert report is not None
    assert [system["name"] for system in report["counterfactual"]["systems"]] == ["logged", "web:1", "web:2"]
    assert report["counterfactual"]["differences"][2]["better"] == "web:2"
    assert report["rule"]["counterfactual"]["click_log_id"] == log.id
    for kind, used in (("click-log", log.id), ("dataset", dataset_id)):
        (refused,) = delete_objects(
            inline_worker.store, KINDS[kind], [used], DeletionMode(trash_days=7), Actor(is_audited=False)
        ).refused
        assert "web@champion" in [each.name for each in refused.holders]


def test_a_log_with_too_little_support_refuses_the_promotion(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The gate refuses with a log of a few lists, and with a log of other queries."""
    dataset_id = inline_worker.add(dataset, "judged")
    for _ in range(2):
        inline_worker.training_result(dataset_id)
    with inline_worker.store.begin() as tx:
        tx.aliases.move("web", "champion", 1)
    rows = clicks_on(dataset).splitlines(keepends=True)
    few = ingested(inline_worker, "".join(rows[:40]))
    rule = {"click_log_id": few.id, "dataset_id": dataset_id, "margin": 10.0}
    sentence = refusal(promote(inline_worker, 2, **rule))
    assert "the effective sample size is" in sentence
    assert "interleaving" in sentence
    other = ingested(inline_worker, "list,query,document,rank,click,propensity\n1,q,d,1,1,1\n")
    sentence = refusal(promote(inline_worker, 2, **{**rule, "click_log_id": other.id}))
    assert "no list of the log has a query that is in all rankings; change the gate" in sentence


def test_a_gate_is_checked_when_it_is_set(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Errors of the metric, the estimator and the log have their JSON pointers."""
    dataset_id = inline_worker.add(dataset, "judged")
    log = ingested(inline_worker, "list,query,document,rank,click\n1,q,d,1,1\n")
    rule = {"click_log_id": log.id, "dataset_id": dataset_id}
    for changed, place in (
        ({"metric": "ndcg@10"}, "/counterfactual/metric"),
        ({"estimator": "examination"}, "/counterfactual/examination"),
        ({}, "/counterfactual/estimator"),
    ):
        with pytest.raises(InvalidInput, match=f"^{place}: "):
            promote(inline_worker, 1, **{**rule, **changed})


def test_a_gate_keeps_the_examination_of_a_job(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The job may be deleted later. Workers of the previous release refuse entries that they do not know."""
    dataset_id = inline_worker.add(dataset, "judged")
    log = ingested(inline_worker, "list,query,document,rank,click\n1,q,d,1,1\n")
    rule = {"click_log_id": log.id, "dataset_id": dataset_id, "estimator": "examination"}
    result = {"propensities": [1.0, 0.5], "lower": [1.0, 0.25], "upper": [1.0, 1.0]}
    with inline_worker.store.begin() as tx:
        job = tx.jobs.add("propensity", {"click_log_id": log.id})
        running = tx.jobs.claim(job.id, "w1", 15)
        assert running is not None
        tx.jobs.succeed(job.id, running.token, result)
        by_job, exact = (
            gate_rule(tx, GateRequest.model_validate({"counterfactual": {**rule, **examination}}))
            for examination in ({"propensity_job": job.id}, {"examination": [1.0, 0.5]})
        )
    assert by_job["counterfactual"]["examination"] == exact["counterfactual"]["examination"] == [1.0, 0.5]
    assert by_job["counterfactual"]["examination_errors"] == pytest.approx([0.0, 0.3536], abs=1e-4)
    assert not {"propensity_job", "examination_errors"}.intersection(exact["counterfactual"])
    assert "propensity_job" not in by_job["counterfactual"]
