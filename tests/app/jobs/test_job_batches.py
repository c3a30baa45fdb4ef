"""Several jobs in one request: either all are queued, or none is."""

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


def test_all_jobs_are_queued_in_the_given_order(client: TestClient, train_request: dict[str, Any]) -> None:
    """Each job has the specification that it has when it is submitted alone."""
    body = _grid(train_request, {"seed": 1}, {"seed": 2, "priority": "high"})
    response = client.post("/v1/jobs/batch", json=body)
    assert response.status_code == 202, response.text
    jobs = response.json()["jobs"]
    assert [(job["spec"]["seed"], job["priority"]) for job in jobs] == [(1, "normal"), (2, "high")]
    assert jobs == _jobs(client)
    alone = client.post("/v1/jobs", json=body["jobs"][0]).json()
    assert jobs[0]["spec"] == alone["spec"]


def test_one_mistake_refuses_all(client: TestClient, train_request: dict[str, Any]) -> None:
    """Pointers have the job's position in the list, also for mistakes that only the dataset reveals."""
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
def test_the_number_of_jobs_is_bounded(client: TestClient, size: int) -> None:
    """A batch has at least one job and at most 256."""
    refused = client.post("/v1/jobs/batch", json={"jobs": [{}] * size})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/jobs")


def test_a_repeated_batch_is_submitted_once(client: TestClient, train_request: dict[str, Any]) -> None:
    """The second request with the same key gets the first answer and queues no job."""
    body = _grid(train_request, {"seed": 1}, {"seed": 2})
    first, second = (client.post("/v1/jobs/batch", json=body, headers=KEY) for _ in range(2))
    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len(_jobs(client)) == 2


class TestQuota:
    """Each job of a batch counts towards the limit of active jobs."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings that allow two active jobs."""
        return settings.model_copy(update={"max_active_jobs": 2})

    def test_a_batch_above_the_quota_is_refused_whole(
        self, client: TestClient, train_request: dict[str, Any]
    ) -> None:
        """No job of a batch that exceeds the quota is queued; only one that fits may succeed later."""
        many = client.post("/v1/jobs/batch", json=_grid(train_request, {}, {}, {}))
        assert (many.status_code, many.json()["type"]) == (409, "/problems/job-quota-too-small")
        assert many.json()["detail"].startswith("the request needs 3 jobs, but at most 2 may wait or run")
        assert "retry-after" not in many.headers
        assert _jobs(client) == []
        fits = _grid(train_request, {}, {})
        assert [client.post("/v1/jobs/batch", json=fits).status_code for _ in range(2)] == [202, 429]
