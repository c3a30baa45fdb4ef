"""Requests for propensities, simulated clicks and trainings on clicks."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import TestClient


@pytest.fixture
def log_id(store: Store) -> str:
    """Return the id of a ready log."""
    with store.begin() as tx:
        log = tx.click_logs.add("clicks", {"kind": "upload"})
        tx.click_logs.mark_ready(log.id, folder="click-logs/x", statistics={})
    return log.id


def errors_of(client: TestClient, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the pointer and the detail of each error of a refused request."""
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 422, answer.text
    return [(error["pointer"], error["detail"]) for error in answer.json()["errors"]]


def test_propensities_need_features_for_some_methods(
    client: TestClient, log_id: str, ready_dataset: Callable[[], str]
) -> None:
    """A dataset is required by methods that need features, and ignored by others; options have defaults."""
    body = {"kind": "propensity", "click_log_id": log_id}
    job = client.post("/v1/jobs", json=body | {"dataset_id": ready_dataset()}).json()
    defaults = {"method": "all-pairs", "positions": 10, "resamples": 100, "dataset_id": None}
    assert job["spec"].items() >= defaults.items()
    assert job["title"] == "all-pairs"
    for method in ("regression-em", "trust-em"):
        ((pointer, detail),) = errors_of(client, body | {"method": method})
        assert pointer == "/dataset_id"
        assert f"{method} needs the features" in detail
    assert errors_of(client, body | {"positions": 1})[0][0] == "/positions"
    assert client.post("/v1/jobs", json=body | {"click_log_id": "clk_none"}).status_code == 404


def test_simulated_clicks_are_recorded_with_their_user_model(
    client: TestClient, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """The log is pending until the job ends; a preset is stored as its options."""
    body = {"kind": "simulate-clicks", "dataset_id": ready_dataset(), "log_name": "simulated"}
    assert errors_of(client, body)[0][0] == "/models"
    answer = client.post(
        "/v1/jobs", json=body | {"features": ["f1"], "user_model": "navigational", "lists": 50}
    )
    assert answer.status_code == 202, answer.text
    spec = answer.json()["spec"]
    assert spec["rankers"] == [{"system": "f1", "model_id": None}]
    assert (spec["user_model"]["kind"], spec["user_model"]["attraction"][0], spec["lists"]) == (
        "dbn",
        0.05,
        50,
    )
    with store.read() as tx:
        log = tx.click_logs.get(spec["click_log_id"])
    assert (log.name, log.status, log.job_id) == ("simulated", "pending", answer.json()["id"])
    own = client.post("/v1/jobs", json=body | {"features": ["f1"], "user_model": {"kind": "trust"}})
    assert own.json()["spec"]["user_model"]["kind"] == "trust"


def test_simulated_clicks_refuse_a_feature_that_the_dataset_lacks(client: TestClient, store: Store) -> None:
    """The error has the pointer of the feature."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "synthetic"})
        tx.datasets.mark_ready(dataset.id, statistics={"features": 2}, feature_names=["f1", "f2"])
    body = {"kind": "simulate-clicks", "dataset_id": dataset.id, "log_name": "simulated"}
    absent = errors_of(client, body | {"features": ["f1", "f9"]})
    assert absent == [("/features/1", "'f9' is not a feature of the dataset")]


def test_a_counterfactual_estimate_needs_a_log_with_propensities(
    client: TestClient, log_id: str, ready_dataset: Callable[[], str]
) -> None:
    """For a log without propensities, the error has the pointer of the estimator."""
    body = {
        "kind": "counterfactual",
        "click_log_id": log_id,
        "dataset_id": ready_dataset(),
        "systems": [{"model": "web:1"}],
    }
    assert [pointer for pointer, _ in errors_of(client, body)] == ["/estimator"]


def test_an_estimate_takes_examination_and_its_errors_from_a_job(
    client: TestClient, store: Store, log_id: str, add_model: Callable[..., Model]
) -> None:
    """Errors follow from intervals; a propensity above 1 counts as 1; true propensities have no errors."""
    bounds = {"lower": [1.0, 0.9, 0.25], "upper": [1.0, 1.6, 1.0]}
    results: list[dict[str, Any]] = [
        {"propensities": [1.0, 1.2, 0.5], **bounds},
        {"truth": {"propensities": [1.0, 0.5]}},
        {"propensities": [1.0, 0.5], "lower": None, "upper": None},
        {"propensities": [1.0, 1.2, 0.5], **bounds, "method": "trust-em", "intercepts": [0.1, 0.1, 0.1]},
    ]
    with store.begin() as tx:
        jobs = [tx.jobs.add("propensity", {"click_log_id": log_id}) for _ in results]
        for job, result in zip(jobs, results, strict=True):
            running = tx.jobs.claim(job.id, "w1", 15)
            assert running is not None
            tx.jobs.succeed(job.id, running.token, result)
    model = add_model("web")
    body = {
        "kind": "counterfactual",
        "click_log_id": log_id,
        "dataset_id": model.dataset_id,
        "systems": [{"model": model.reference}],
        "estimator": "examination",
    }
    estimated, exact = (
        client.post("/v1/jobs", json=body | {"propensity_job": job.id}).json()["spec"] for job in jobs[:2]
    )
    assert estimated["examination"] == [1.0, 1.0, 0.5]
    assert estimated["examination_errors"] == pytest.approx([0.0, 0.1468, 0.3536], abs=1e-4)
    assert exact["examination"] == [1.0, 0.5]
    assert "examination_errors" not in exact
    for wrong, pointer in (
        ({"metric": "ndcg@10"}, "/metric"),
        ({"metric": "clicks@0"}, "/metric"),
        ({"metric": "unknown"}, "/metric"),
        ({"propensity_job": jobs[2].id}, "/propensity_job"),
        ({"propensity_job": jobs[3].id}, "/propensity_job"),
        ({"propensity_job": jobs[0].id, "examination": [1.0]}, "/propensity_job"),
        ({"propensity_job": jobs[0].id, "estimator": "slate"}, "/propensity_job"),
        ({"examination": [1.0, 0.5], "examination_errors": [0.1]}, "/examination_errors"),
        ({}, "/examination"),
    ):
        assert [each for each, _ in errors_of(client, body | wrong)] == [pointer]


def test_a_correction_takes_propensities_of_a_finished_job(
    client: TestClient, store: Store, log_id: str, ready_dataset: Callable[[], str]
) -> None:
    """A job that has not finished, or has no intercepts for an affine correction, is refused."""
    with store.begin() as tx:
        job = tx.jobs.add("propensity", {"click_log_id": log_id})
        running = tx.jobs.claim(job.id, "w1", 15)
        assert running is not None
        tx.jobs.succeed(job.id, running.token, {"propensities": [1.0, 0.5]})
        waiting = tx.jobs.add("propensity", {"click_log_id": log_id})
    body = {
        "kind": "train",
        "model_name": "web",
        "dataset_id": ready_dataset(),
        "loss": {"name": "lambdarank"},
    }
    clicks = {"log": log_id, "correction": "ips", "propensity_job": job.id}
    answer = client.post("/v1/jobs", json=body | {"clicks": clicks})
    assert answer.status_code == 202, answer.text
    assert answer.json()["spec"]["clicks"] == {"log": log_id, "correction": "ips", "propensities": [1.0, 0.5]}
    with store.begin() as tx:
        affine = tx.jobs.add("propensity", {"click_log_id": log_id})
        running = tx.jobs.claim(affine.id, "w1", 15)
        assert running is not None
        tx.jobs.succeed(affine.id, running.token, {"propensities": [1.0, 0.5], "intercepts": [0.3, 0.1]})
    trust = {"log": log_id, "correction": "affine", "propensity_job": affine.id}
    taken = client.post("/v1/jobs", json=body | {"loss": {"name": "listnet"}, "clicks": trust}).json()
    assert taken["spec"]["clicks"]["propensities"] == [1.0, 0.5]
    assert taken["spec"]["clicks"]["intercepts"] == [0.3, 0.1]
    assert "clicks" not in client.post("/v1/jobs", json=body).json()["spec"]
    for wrong_clicks, pointer in (
        ({**clicks, "propensities": [1.0]}, "/clicks/propensity_job"),
        ({**clicks, "propensity_job": waiting.id}, "/clicks/propensity_job"),
        ({**clicks, "correction": "affine"}, "/clicks/propensity_job"),
        ({**clicks, "propensity_job": affine.id}, "/clicks/propensity_job"),
        ({"correction": "ips"}, "/clicks/propensities"),
        ({"correction": "affine", "propensities": [1.0], "intercepts": [0.1]}, "/clicks/correction"),
    ):
        assert errors_of(client, body | {"clicks": wrong_clicks})[0][0] == pointer
