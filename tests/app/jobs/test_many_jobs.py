"""Requests about several jobs: learning curves and cancellation."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import TestClient


@pytest.fixture
def add_running_job(store: Store) -> Callable[[int], str]:
    """Function that records trainings with a number of measured iterations."""

    def add(iterations: int) -> str:
        with store.begin() as tx:
            job = tx.jobs.add("train", {"model_name": "web"})
            claimed = tx.jobs.claim(job.id, "trainer:1/1", 60.0)
            assert claimed is not None
            curve = [(k, {"train": {"ndcg@10": k / 10}}) for k in range(1, iterations + 1)]
            tx.jobs.record(job.id, claimed.token, iterations=curve, milliseconds={1: {"tree": 2.0}})
        return job.id

    return add


def test_curves_of_several_jobs_come_in_one_answer(
    client: TestClient, add_running_job: Callable[[int], str], add_model: Callable[[str], Model], store: Store
) -> None:
    """Each curve begins at its requested iteration, in the order of the request; the answer has an ETag."""
    long, short, done = add_running_job(3), add_running_job(1), add_model("web")
    with store.begin() as tx:
        claimed = tx.jobs.claim(done.job_id, "trainer:1/1", 60.0)
        assert claimed is not None
        tx.jobs.succeed(done.job_id, claimed.token, {"model_id": done.id})
    path = f"/v1/jobs/histories?job={done.job_id}&job={long}:1&job={short}&job=job_none:7"
    response = client.get(path)
    assert response.status_code == 200, response.text
    assert response.json() == {
        "items": [
            {
                "job_id": done.job_id,
                "best_iteration": 2,
                "iterations": [],
                "curves": {},
                "milliseconds": {},
                "attempt": 1,
                "status": "succeeded",
            },
            {
                "job_id": long,
                "best_iteration": None,
                "iterations": [2, 3],
                "curves": {"train": {"ndcg@10": [0.2, 0.3]}},
                "milliseconds": {},
                "attempt": 1,
                "status": "running",
            },
            {
                "job_id": short,
                "best_iteration": None,
                "iterations": [1],
                "curves": {"train": {"ndcg@10": [0.1]}},
                "milliseconds": {},
                "attempt": 1,
                "status": "running",
            },
        ],
        "missing": ["job_none"],
    }
    assert client.get(path, headers={"If-None-Match": response.headers["etag"]}).status_code == 304


def test_curves_of_several_jobs_are_those_of_each(
    client: TestClient, add_running_job: Callable[[int], str]
) -> None:
    """A shared answer has the same curves as separate answers."""
    ids = [add_running_job(2), add_running_job(4)]
    together = client.get("/v1/jobs/histories", params={"job": ids}).json()["items"]
    for job_id, shown in zip(ids, together, strict=True):
        alone = client.get(f"/v1/jobs/{job_id}/history").json()
        assert shown["curves"] == alone["curves"]
        assert shown["iterations"] == alone["iterations"]


def test_times_of_several_jobs_are_sent_on_request(
    client: TestClient, add_running_job: Callable[[int], str]
) -> None:
    """With `times`, each job has the times of its history; without it, the answer has none."""
    ids = [add_running_job(1), add_running_job(3)]
    query: dict[str, Any] = {"job": ids}
    without, with_times = (
        client.get("/v1/jobs/histories", params={**query, **more}).json()["items"]
        for more in ({}, {"times": True})
    )
    assert [item["milliseconds"] for item in without] == [{}, {}]
    assert [item["milliseconds"] for item in with_times] == [{"tree": [2.0]}, {"tree": [2.0, None, None]}]
    for job_id, item in zip(ids, with_times, strict=True):
        assert item["milliseconds"] == client.get(f"/v1/jobs/{job_id}/history").json()["milliseconds"]


@pytest.mark.parametrize("query", ["", "job=", "job=a:b", "job=a%20b", "job=a:9999999999", "job=x&" * 101])
def test_wrong_requests_for_curves_are_refused(client: TestClient, query: str) -> None:
    """A request without a job, with too many jobs, or with a wrong iteration is refused."""
    response = client.get(f"/v1/jobs/histories?{query.rstrip('&')}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"].startswith("/job")


def test_several_jobs_are_cancelled(
    client: TestClient, add_running_job: Callable[[int], str], train_request: dict[str, Any]
) -> None:
    """A queued job ends immediately, and a running job gets a request to stop; repeats report new states."""
    queued = client.post("/v1/jobs", json=train_request).json()["id"]
    ids = [add_running_job(1), "job_none", queued, queued]
    response = client.post("/v1/jobs/cancel", json={"ids": ids})
    assert response.status_code == 200, response.text
    assert response.json()["items"] == [
        {"id": ids[0], "outcome": "stopping", "status": "running"},
        {"id": "job_none", "outcome": "missing", "status": None},
        {"id": queued, "outcome": "cancelled", "status": "cancelled"},
    ]
    assert client.get(f"/v1/jobs/{ids[0]}").json()["cancel_requested"] is True
    again = client.post("/v1/jobs/cancel", json={"ids": ids}).json()["items"]
    assert [each["outcome"] for each in again] == ["stopping", "missing", "already_ended"]


@pytest.mark.embedded
def test_all_jobs_are_cancelled_while_the_storage_fails(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """Artifacts are deleted after the last cancellation; a failure is 503 and keeps all cancellations."""
    ids = [client.post("/v1/jobs", json=train_request).json()["id"] for _ in range(3)]
    store.artifacts.write_bytes("checkpoints", b"a file in place of the folder of all checkpoints")
    assert client.post("/v1/jobs/cancel", json={"ids": ids}).status_code == 503
    assert [client.get(f"/v1/jobs/{job_id}").json()["status"] for job_id in ids] == ["cancelled"] * 3


@pytest.mark.parametrize(
    "body", [{}, {"ids": []}, {"ids": ["x"] * 201}, {"ids": [1]}, {"ids": ["a"], "x": 1}]
)
def test_wrong_selections_are_refused(client: TestClient, body: dict[str, Any]) -> None:
    """A request has one to two hundred ids and no other field."""
    assert client.post("/v1/jobs/cancel", json=body).status_code == 422
