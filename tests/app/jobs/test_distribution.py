"""Requests, refusals and progress of distributed trainings over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Store
from tests.app.conftest import TestClient

DISTRIBUTION = {"ranks": {"at_least": 2, "at_most": 4}, "threads_per_rank": 3}


def refusal_reasons(client: TestClient, request: dict[str, Any]) -> dict[str, str]:
    """Submit a job that is refused, and return the reasons by pointer."""
    response = client.post("/v1/jobs", json=request)
    assert response.status_code == 422, response.text
    return {error["pointer"]: error["detail"] for error in response.json()["errors"]}


def submit(client: TestClient, request: dict[str, Any]) -> dict[str, Any]:
    """Submit a job, and return it."""
    response = client.post("/v1/jobs", json=request)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()
    return job


@pytest.mark.parametrize(
    ("distribution", "stored"),
    [
        (DISTRIBUTION, DISTRIBUTION),
        ({}, {"ranks": {"at_least": 2, "at_most": 8}, "threads_per_rank": 1}),
        ({"ranks": {"at_most": 2}}, {"ranks": {"at_least": 2, "at_most": 2}, "threads_per_rank": 1}),
    ],
)
def test_a_distribution_is_stored_whole(
    client: TestClient, train_request: dict[str, Any], distribution: dict[str, Any], stored: dict[str, Any]
) -> None:
    """Omitted fields have their defaults."""
    assert submit(client, train_request | {"distribution": distribution})["spec"]["distribution"] == stored


def test_a_training_by_one_process_stores_no_distribution(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """The specification equals that of releases without distribution."""
    assert "distribution" not in submit(client, train_request | {"distribution": None})["spec"]


@pytest.mark.parametrize(
    ("distribution", "pointer"),
    [
        ({"ranks": {"at_least": 1}}, "/distribution/ranks/at_least"),
        ({"ranks": {"at_most": 65}}, "/distribution/ranks/at_most"),
        ({"ranks": {"at_least": 5, "at_most": 4}}, "/distribution/ranks/at_most"),
        ({"ranks": 4}, "/distribution/ranks"),
        ({"threads_per_rank": 0}, "/distribution/threads_per_rank"),
        ({"machines": 4}, "/distribution/machines"),
        (4, "/distribution"),
    ],
)
def test_invalid_fields_of_a_distribution_are_refused(
    client: TestClient, train_request: dict[str, Any], distribution: Any, pointer: str
) -> None:
    """The error has the pointer of the field."""
    assert list(refusal_reasons(client, train_request | {"distribution": distribution})) == [pointer]


def test_all_that_cannot_be_distributed_is_reported(
    client: TestClient, train_request: dict[str, Any]
) -> None:
    """All options that distributed trainings do not support are reported together with other mistakes."""
    request = train_request | {
        "distribution": DISTRIBUTION,
        "hyperparameters": {"boosting": "dart", "bagging_fraction": 0.5, "bagging_freq": 1},
        "diagnostics": {"interval": 5},
        "validation": {"folds": 2},
        "metrics": ["ndcg@5", "ndcg@5"],
    }
    reasons = refusal_reasons(client, request)
    assert list(reasons) == [
        "/metrics/1",
        "/hyperparameters/boosting",
        "/hyperparameters/bagging_fraction",
        "/diagnostics",
        "/validation",
    ]
    assert "use query_fraction" in reasons["/hyperparameters/bagging_fraction"]


def test_networks_are_not_distributed(client: TestClient, train_request: dict[str, Any]) -> None:
    """The reason names the kind of scorer."""
    request = train_request | {"distribution": DISTRIBUTION, "scorer": {"kind": "mlp"}, "hyperparameters": {}}
    assert refusal_reasons(client, request) == {
        "/distribution": "applies to trees only; a mlp is trained by one process"
    }


def test_a_grid_is_distributed(client: TestClient, train_request: dict[str, Any]) -> None:
    """Each training of a grid is distributed; the pointer of a mistake begins with the training's index."""
    jobs = [train_request | {"distribution": DISTRIBUTION, "seed": seed} for seed in (1, 2)]
    queued = client.post("/v1/jobs/batch", json={"jobs": jobs}).json()["jobs"]
    assert [job["spec"]["distribution"] for job in queued] == [DISTRIBUTION, DISTRIBUTION]
    jobs[1]["hyperparameters"] = {"linear_tree": True}
    errors = client.post("/v1/jobs/batch", json={"jobs": jobs}).json()["errors"]
    assert [error["pointer"] for error in errors] == ["/jobs/1/hyperparameters/linear_tree"]


def test_ranks_are_shown_while_they_train(
    client: TestClient,
    store: Store,
    train_request: dict[str, Any],
    ready_dataset: Callable[[], str],
) -> None:
    """Progress is the driver's last report; jobs without distribution have neither ranks nor restarts."""
    rank = {
        "rank": 0,
        "host": "10.0.0.12",
        "queries": 30,
        "documents": 900,
        "memory_bytes": 2**28,
        "peak_memory_bytes": 2**29,
        "sent_bytes": 2**20,
        "waiting_share": 0.125,
        "stage": "training",
    }
    counts = {"phase": "training", "iteration": 3, "total": 10, "eta_seconds": 1.5}
    reports = [counts | {"ranks": [rank, rank | {"rank": 1}], "restarts": 1}, counts]
    for progress in reports:
        job_id = submit(client, train_request | {"dataset_id": ready_dataset()})["id"]
        with store.begin() as tx:
            job = tx.jobs.claim(job_id, "w1", 15)
            assert job is not None
            tx.jobs.record(job_id, job.token, progress=progress, metrics={})
        assert client.get(f"/v1/jobs/{job_id}").json()["progress"] == progress


@pytest.mark.long
def test_the_schema_has_bounds_and_examples(client: TestClient) -> None:
    """Forms and clients read bounds from the schema."""
    schemas = client.get("/v1/job-schemas").json()["schemas"]
    ranks = schemas["RanksRequest"]["properties"]
    assert {
        name: (field["minimum"], field["maximum"], field["default"]) for name, field in ranks.items()
    } == {
        "at_least": (2, 64, 2),
        "at_most": (2, 64, 8),
    }
    assert schemas["DistributionRequest"]["properties"]["threads_per_rank"]["maximum"] == 256
    assert "distribution" in schemas["TrainRequest"]["properties"]
    served = client.get("/openapi.json").json()["components"]["schemas"]
    assert "distribution" in _properties("TrainRequest", served)
    for name in ("StudyRequest", "StudyBaseRequest", "ExperimentRequest"):
        assert "distribution" not in _properties(name, served)


def _properties(name: str, schemas: dict[str, Any]) -> set[str]:
    """Return the properties of an object, with those of the objects that it extends."""
    parts = schemas[name].get("allOf", [schemas[name]])
    bases = [_properties(part["$ref"].rpartition("/")[2], schemas) for part in parts if "$ref" in part]
    return set().union(*bases, *(part.get("properties", ()) for part in parts))
