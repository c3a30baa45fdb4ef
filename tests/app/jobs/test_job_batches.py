"""Several jobs in one request: all of them, or none."""

from typing import Any

import pytest

from app import ApiSettings
from tests.app.conftest import TestClient

KEY = {"Idempotency-Key": "grid-7"}


def _grid(train_request: dict[str, Any], *changes: dict[str, Any]) -> dict[str, Any]:
    return {"jobs": [train_request | change for change in changes]}


def _jobs(client: TestClient) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/v1/jobs?sort=oldest").json()["items"]
    return items


def test_all_are_queued_in_their_order(client: TestClient, train_request: dict[str, Any]) -> None:
    """Each as if it came alone; another kind may be among them."""
    body = _grid(train_request, {"seed": 1}, {"seed": 2, "priority": "high"})
    response = client.post("/v1/jobs/batch", json=body)
    assert response.status_code == 202, response.text
    jobs = response.json()["jobs"]
    assert [(job["spec"]["seed"], job["priority"]) for job in jobs] == [(1, "normal"), (2, "high")]
    assert jobs == _jobs(client)
    alone = client.post("/v1/jobs", json=body["jobs"][0]).json()
    assert jobs[0]["spec"] == alone["spec"]


def test_one_mistake_refuses_all(client: TestClient, train_request: dict[str, Any]) -> None:
    """Every mistake is named with its place in the list, those that need the datasets, too."""
    body = _grid(
        train_request,
        {},
        {"test_dataset_id": train_request["dataset_id"]},
        {"validation": {"column": "market", "values": ["at"]}},
    )
    refused = client.post("/v1/jobs/batch", json=body)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [
        "/jobs/1/test_dataset_id",
        "/jobs/2/validation/column",
    ]
    by_schema = client.post(
        "/v1/jobs/batch", json=_grid(train_request, {}, {"hyperparameters": {"num_leaves": 1}})
    )
    assert [error["pointer"] for error in by_schema.json()["errors"]] == [
        "/jobs/1/hyperparameters/num_leaves"
    ]
    unknown = client.post("/v1/jobs/batch", json=_grid(train_request, {}, {"dataset_id": "ds_none"}))
    assert unknown.status_code == 404
    assert _jobs(client) == []


@pytest.mark.parametrize("size", [0, 257])
def test_their_number_is_bounded(client: TestClient, size: int) -> None:
    """One at least, 256 at most."""
    refused = client.post("/v1/jobs/batch", json={"jobs": [{}] * size})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/jobs")


def test_a_repeated_batch_is_submitted_once(client: TestClient, train_request: dict[str, Any]) -> None:
    """The second answer is the first one."""
    body = _grid(train_request, {"seed": 1}, {"seed": 2})
    first, second = (client.post("/v1/jobs/batch", json=body, headers=KEY) for _ in range(2))
    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len(_jobs(client)) == 2


class TestQuota:
    """A batch counts as many jobs."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Two jobs at a time."""
        return settings.model_copy(update={"max_active_jobs": 2})

    def test_what_does_not_fit_is_refused_whole(
        self, client: TestClient, train_request: dict[str, Any]
    ) -> None:
        """None of a grid that is too large is started."""
        many = client.post("/v1/jobs/batch", json=_grid(train_request, {}, {}, {}))
        assert (many.status_code, many.json()["type"]) == (429, "/problems/too-many-jobs")
        assert _jobs(client) == []
        assert client.post("/v1/jobs/batch", json=_grid(train_request, {}, {})).status_code == 202
