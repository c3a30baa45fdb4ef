"""Data of the overview page: workers, counts, and aliases with their metrics."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded

AddModel = Callable[..., Model]


def test_workers_are_listed_with_their_jobs(
    client: TestClient, store: Store, train_request: dict[str, Any]
) -> None:
    """Workers with a recent report are listed; a job belongs to the worker whose process runs it."""
    job_id = client.post("/v1/jobs", json=train_request).json()["id"]
    with store.begin() as tx:
        tx.workers.report("host:1", "training", 2, 60)
        tx.workers.report("host:11", "quick", 1, 60)
        tx.workers.report("gone:1", "quick", 1, -1)
        tx.jobs.claim(job_id, "host:11/57", 15)
    first, second = client.get("/v1/workers").json()["items"]
    assert (first["name"], first["lane"], first["processes"], first["jobs"]) == ("host:1", "training", 2, [])
    assert second["name"] == "host:11"
    (job,) = second["jobs"]
    assert (job["id"], job["kind"], job["worker"]) == (job_id, "train", "host:11/57")
    with store.begin() as tx:
        tx.workers.remove("host:1")
        tx.workers.report("host:11", "quick", 1, 60)
    (left,) = client.get("/v1/workers").json()["items"]
    assert left["started_at"] == second["started_at"]
    assert left["seen_at"] >= second["seen_at"]


def test_running_jobs_of_a_later_release_are_left_out(client: TestClient, store: Store) -> None:
    """During an upgrade, the workers are listed with the jobs of known kinds."""
    with store.begin() as tx:
        tx.workers.report("host:1", "quick", 1, 60)
        later = tx.jobs.add("evaluate", {})
        tx.jobs.claim(later.id, "host:1/57", 15)
        tx.jobs.get(later.id).kind = "later"
    (worker,) = client.get("/v1/workers").json()["items"]
    assert worker["jobs"] == []


def test_jobs_are_counted_by_status(client: TestClient, train_request: dict[str, Any]) -> None:
    """A status without jobs has 0; datasets and results are counted, too."""
    before = client.get("/v1/counts").json()
    client.post("/v1/jobs", json=train_request)
    counts = client.get("/v1/counts").json()
    assert counts["jobs"] == {
        **before["jobs"],
        "queued": before["jobs"]["queued"] + 1,
    }
    assert set(counts["jobs"]) == {"queued", "running", "succeeded", "refused", "failed", "cancelled"}
    assert counts["datasets"] >= 1
    assert [counts[name] for name in ("evaluations", "comparisons", "rankings")] == [0, 0, 0]


def test_waiting_jobs_are_counted_by_lane(client: TestClient, train_request: dict[str, Any]) -> None:
    """Trainings wait in the lane `training`, and short jobs in the lane `quick`."""
    assert client.get("/v1/counts").json()["waiting"] == {"training": 0, "quick": 0}
    client.post("/v1/jobs", json=train_request)
    client.post("/v1/datasets/synthetic", json={"queries": 3})
    client.post("/v1/jobs", json=train_request)
    assert client.get("/v1/counts").json()["waiting"] == {"training": 2, "quick": 1}


def test_refused_promotions_are_counted_apart(client: TestClient, store: Store) -> None:
    """A refused promotion is not a failure in counts, in the list of jobs and in the job's attempts."""
    assert client.get("/v1/counts").json()["refused_promotions"] == 0
    with store.begin() as tx:
        job = tx.jobs.add(
            "promote", {"model_name": "web", "alias": "champion", "systems": [{"system": "web:2"}]}
        )
        claimed = tx.jobs.claim(job.id, "w1", 15)
        assert claimed is not None
        tx.jobs.refuse(job.id, claimed.token, {"title": "Promotion refused", "detail": "web:2 is worse."})
    counts = client.get("/v1/counts").json()
    assert (counts["refused_promotions"], counts["jobs"]["refused"], counts["jobs"]["failed"]) == (1, 1, 0)
    (listed,) = client.get("/v1/jobs?status=refused").json()["items"]
    assert (listed["id"], listed["status"], listed["problem"]["detail"]) == (
        job.id,
        "refused",
        "web:2 is worse.",
    )
    assert client.get(f"/v1/jobs/{job.id}").json()["attempts"][0]["ending"] == "refused"
    assert client.get("/v1/jobs?status=failed").json()["items"] == []


def test_the_trend_lists_versions_with_the_champions_test_data(
    client: TestClient, store: Store, add_model: AddModel
) -> None:
    """The trend has the main metric by version, oldest first, for versions with the champion's test data."""
    tests = ["ds_a", "ds_b", "ds_a", None, "ds_a"]
    models = [add_model("web") for _ in tests]
    client.put("/v1/models/web/aliases/champion", json={"version": 3})

    def trend() -> Any:
        (alias,) = client.get("/v1/aliases?alias=champion").json()["items"]
        return alias["trend"]

    assert trend() is None
    with store.begin() as tx:
        for model, tested_on in zip(models, tests, strict=True):
            row = tx.models.get(model.id)
            row.lineage = {"datasets": {"test": {"id": tested_on}} if tested_on else {}}
            row.metrics = {"map": row.version / 10, "mrr": 0.9} if tested_on else None
    assert trend() == {"metric": "map", "versions": [1, 3, 5], "values": [0.1, 0.3, 0.5]}


def test_an_alias_is_listed_for_each_name(client: TestClient, add_model: Callable[..., Model]) -> None:
    """Each entry has the version's metrics; other aliases are left out."""
    stored = add_model("web")
    assert client.get("/v1/aliases?alias=champion").json() == {"items": []}
    for alias in ("champion", "other"):
        client.put(f"/v1/models/{stored.name}/aliases/{alias}", json={"version": stored.version})
    (listed,) = client.get("/v1/aliases?alias=champion").json()["items"]
    assert (listed["name"], listed["alias"], listed["version"]) == (stored.name, "champion", stored.version)
    assert (listed["model_id"], listed["metrics"]) == (stored.id, stored.metrics)
    assert client.get("/v1/aliases").status_code == 422
