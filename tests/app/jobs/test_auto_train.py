"""Requests to find the best model, and their candidates."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Store
from tests.app.conftest import TestClient


@pytest.fixture
def request_body(ready_dataset: Callable[[], str]) -> dict[str, Any]:
    """Return the smallest request."""
    return {"kind": "auto-train", "model_name": "web", "dataset_id": ready_dataset()}


def _add_dataset(store: Store, **statistics: Any) -> str:
    """Record a dataset that is ready."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "synthetic", "queries": 3, "seed": 0})
        counts = {"queries": 3, "documents": 9, "features": 3}
        tx.datasets.mark_ready(dataset.id, statistics=counts | statistics)
    return dataset.id


def _labels(least: float, most: float, *, whole: bool = True) -> dict[str, Any]:
    label_range = {"minimum": least, "maximum": most, "missing": 0, "whole": whole}
    return {"labels": [{"label": least}, {"label": most}], "label_range": label_range}


def test_everything_but_the_data_and_the_name_has_a_default(
    client: TestClient, request_body: dict[str, Any]
) -> None:
    """The specification has all defaults, and the metric by the name that reports show."""
    created = client.post("/v1/jobs", json=request_body | {"metric": "NDCG@5", "tags": {"team": "search"}})
    assert created.status_code == 202, created.text
    job = created.json()
    assert (job["kind_label"], job["title"]) == ("Automatic training", "web")
    spec = job["spec"]
    assert spec["contract"]["gain"]
    defaults = {"budget_seconds": 300.0, "prefer": "best", "seed": 42, "test_dataset_id": None}
    assert spec.items() >= (defaults | {"metric": "ndcg@5"}).items()


@pytest.mark.parametrize(
    ("statistics", "pointer", "detail"),
    [
        ({"queries": 1}, "/dataset_id", "has only one query"),
        ({"features": 0}, "/dataset_id", "judgments without features"),
        (_labels(-1.0, 2.0), "/label_map", "the smallest label is -1"),
        (_labels(0.0, 2_000.0), "/metric", "overflows"),
    ],
)
def test_data_that_do_not_fit_are_refused(
    client: TestClient, store: Store, statistics: dict[str, Any], pointer: str, detail: str
) -> None:
    """422 points at the field to change, and the detail has the reason."""
    dataset_id = _add_dataset(store, **statistics)
    body = {"kind": "auto-train", "model_name": "web", "dataset_id": dataset_id}
    refused = client.post("/v1/jobs", json=body)
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]


def test_a_label_map_makes_labels_fit(client: TestClient, store: Store) -> None:
    """A map of labels below 0 applies to the test data as well."""
    ids = [_add_dataset(store, **_labels(-1.0, 2.0)) for _ in range(2)]
    body = {"kind": "auto-train", "model_name": "web", "dataset_id": ids[0], "test_dataset_id": ids[1]}
    assert client.post("/v1/jobs", json=body).status_code == 422
    assert client.post("/v1/jobs", json=body | {"label_map": {"-1": 0}}).status_code == 202


def test_test_data_must_be_ready(client: TestClient, request_body: dict[str, Any]) -> None:
    """A pending dataset is 409 with its id; a dataset that does not exist is 404."""
    pending = client.post("/v1/datasets/synthetic", json={"queries": 1}).json()["id"]
    response = client.post("/v1/jobs", json=request_body | {"test_dataset_id": pending})
    assert response.status_code == 409
    assert pending in response.json()["detail"]
    assert client.post("/v1/jobs", json=request_body | {"test_dataset_id": "ds_none"}).status_code == 404


def test_a_name_of_another_project_is_refused(client: TestClient, request_body: dict[str, Any]) -> None:
    """A model name that belongs to one project cannot be trained in another."""
    assert client.post("/v1/jobs", json=request_body | {"project": "shop"}).status_code == 202
    refused = client.post("/v1/jobs", json=request_body | {"project": "web-search"})
    assert refused.status_code == 422
    assert "shop" in refused.json()["errors"][0]["detail"]


def test_a_batch_may_contain_automatic_trainings_but_not_repeat_them(
    client: TestClient, request_body: dict[str, Any]
) -> None:
    """Repeats are refused, since the estimate already covers the variation between samples of the data."""
    batch = {"jobs": [request_body, request_body | {"prefer": "simple"}]}
    assert client.post("/v1/jobs/batch", json=batch).status_code == 202
    assert len(client.get("/v1/jobs?kind=auto-train").json()["items"]) == 2
    refused = client.post("/v1/jobs/batch", json={"jobs": [request_body], "repeats": {"count": 2}})
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/jobs/0/kind"]


def test_candidates_are_shown_before_the_job_ends(
    client: TestClient, store: Store, request_body: dict[str, Any]
) -> None:
    """Candidates are listed in their recorded order; the conclusion of an unfinished job is null."""
    job_id = client.post("/v1/jobs", json=request_body | {"metric": "arp"}).json()["id"]
    path = f"/v1/jobs/{job_id}/candidates"
    none_yet = {"metric": "arp", "higher_is_better": False, "items": [], "conclusion": None}
    assert client.get(path).json() == none_yet
    trees = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_leaves": 7}}
    linear = {"loss": {"name": "ranknet"}, "scorer": {"kind": "linear"}}
    with store.begin() as tx:
        measured = {"value": 1.5, "interval": [1.4, 1.7], "folds": 2, "planned_folds": 10}
        candidates: list[dict[str, Any]] = [
            {"name": "trees", "training": trees, "status": "stopped", "reason": "is worse", **measured},
            {"name": "linear", "training": linear, "status": "queued"},
        ]
        tx.candidates.add(job_id, candidates)
    first, second = client.get(path).json()["items"]
    assert (first["number"], first["interval"], first["planned_folds"]) == (0, [1.4, 1.7], 10)
    assert (first["scorer"], first["hyperparameters"]) == ({"kind": "trees"}, {"num_leaves": 7})
    assert (second["name"], second["value"], second["weight"]) == ("linear", None, 0.0)
    assert (second["scorer"], second["hyperparameters"]) == ({"kind": "linear"}, None)


def test_other_jobs_have_no_candidates(client: TestClient, train_request: dict[str, Any]) -> None:
    """404 has the message that no automatic training has this id."""
    job_id = client.post("/v1/jobs", json=train_request).json()["id"]
    answer = client.get(f"/v1/jobs/{job_id}/candidates")
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        f"there is no automatic training {job_id!r}",
    )
