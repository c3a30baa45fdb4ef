"""Requests to estimate click models and to make judgments."""

from typing import Any

import pytest

from core.store import Store
from tests.app.conftest import TestClient


@pytest.fixture
def ids(store: Store) -> dict[str, str]:
    """A ready click log and a ready dataset with features."""
    with store.begin() as tx:
        log = tx.click_logs.add("May", {"kind": "upload", "filename": "may.csv"})
        tx.click_logs.mark_ready(
            log.id, folder=f"click-logs/{log.id}/x", statistics={}, findings=[], format="csv"
        )
        dataset = tx.datasets.add("features", {"kind": "upload"})
        tx.datasets.mark_ready(
            dataset.id,
            statistics={"features": 2},
            digest="d",
            data_key="data/x/data.parquet",
            feature_names=["a", "b"],
        )
        return {"click_log_id": log.id, "features_dataset_id": dataset.id}


def test_a_click_model_is_queued_with_defaults(client: TestClient, ids: dict[str, str]) -> None:
    """The title of the job is the name of the log."""
    body = {"kind": "click-model", "click_log_id": ids["click_log_id"], "models": ["pbm", "dbn"]}
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = answer.json()
    assert (job["kind"], job["title"], job["spec"]["held_out"]) == ("click-model", "May", 0.2)
    assert job["spec"]["options"]["iterations"] == 50


def test_judgments_have_a_pending_dataset_with_their_source(
    client: TestClient, store: Store, ids: dict[str, str]
) -> None:
    """The source names log, features and options; the features stay while the job is active."""
    body = {"kind": "judge", **ids, "options": {"model": "sdbn"}, "judgments": {"cuts": [0.1, 0.3]}}
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = answer.json()
    dataset = client.get(f"/v1/datasets/{job['spec']['dataset_id']}").json()
    assert (dataset["name"], dataset["status"], dataset["job_id"]) == ("May", "pending", job["id"])
    source = dataset["source"]
    assert (source["kind"], source["click_log_id"]) == ("clicks", ids["click_log_id"])
    assert (source["options"]["model"], source["judgments"]["cuts"]) == ("sdbn", [0.1, 0.3])
    assert client.delete(f"/v1/datasets/{ids['features_dataset_id']}").status_code == 409


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"kind": "click-model", "models": ["pbm", "pbm"]}, 422, "/models"),
        ({"kind": "click-model", "models": ["pmb"]}, 422, "/models/0"),
        ({"kind": "click-model", "options": {"iterations": 0}}, 422, "/options/iterations"),
        ({"kind": "judge", "judgments": {"cuts": [0.3, 0.1]}}, 422, "/judgments/cuts"),
        ({"kind": "judge", "judgments": {"quantiles": [0.3, 1.0]}}, 422, "/judgments/quantiles"),
        ({"kind": "judge", "features_dataset_id": "ds_01k9x2m4q7c8v5n3b6r9"}, 404, None),
    ],
)
def test_a_wrong_request_leaves_no_dataset(
    client: TestClient, ids: dict[str, str], body: dict[str, Any], status: int, pointer: str | None
) -> None:
    """The answer points at the mistake, and no dataset is created."""
    request = {**(ids if body["kind"] == "judge" else {"click_log_id": ids["click_log_id"]}), **body}
    answer = client.post("/v1/jobs", json=request)
    assert answer.status_code == status, answer.text
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert len(client.get("/v1/datasets").json()["items"]) == 1
