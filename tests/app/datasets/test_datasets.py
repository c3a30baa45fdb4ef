"""Creating, listing and deleting datasets."""

import hashlib
from collections.abc import Callable

import pytest

from core.store import Store
from tests.app.conftest import TestClient
from tests.invalid_datasets import mark_invalid


def test_a_synthetic_dataset_waits_for_its_job(client: TestClient) -> None:
    """The source has every parameter of the data, and a queued job generates the data."""
    response = client.post(
        "/v1/datasets/synthetic", json={"name": "toy", "queries": 10, "seed": 3, "polynomial_seed": 4}
    )
    assert response.status_code == 202
    dataset = response.json()
    assert response.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert dataset["name"] == "toy"
    assert dataset["source"] == {"kind": "synthetic", "queries": 10, "seed": 3, "polynomial_seed": 4}
    (job,) = client.get("/v1/jobs").json()["items"]
    assert (job["id"], job["spec"]) == (dataset["job_id"], {"dataset_id": dataset["id"], "name": "toy"})


def test_the_source_of_synthetic_data_has_only_the_parameters_given(client: TestClient) -> None:
    """A request without newer parameters keeps the digest of earlier releases."""
    shape = {"documents_per_query": 20, "features": 7, "noise": 0.5, "gains": [0.0, 3.0, 7.0, 15.0, 31.0]}
    sparse = {"generator": "sparse", "relevant_per_query": 6.5}
    for parameters in ({}, shape, sparse, shape | sparse):
        dataset = client.post("/v1/datasets/synthetic", json={"queries": 10, **parameters}).json()
        seeds = {"seed": 0, "polynomial_seed": 0}
        assert dataset["source"] == {"kind": "synthetic", "queries": 10, **seeds, **parameters}


def test_datasets_are_listed_newest_first_in_pages(client: TestClient) -> None:
    """Following `next_cursor` visits every dataset once."""
    ids = [client.post("/v1/datasets/synthetic", json={"queries": 1}).json()["id"] for _ in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"/v1/datasets?limit=2{cursor and '&cursor=' + cursor}").json()
        seen += [dataset["id"] for dataset in page["items"]]
        cursor = page["next_cursor"]
    assert seen == ids[::-1]


def test_datasets_are_listed_by_status(client: TestClient, ready_dataset: Callable[[], str]) -> None:
    """The filter `status` excludes other datasets."""
    ready = ready_dataset()
    client.post("/v1/datasets/synthetic", json={"queries": 1})
    assert [item["id"] for item in client.get("/v1/datasets?status=ready").json()["items"]] == [ready]


@pytest.mark.long
def test_datasets_are_found_by_name_and_by_their_bytes(client: TestClient) -> None:
    """Several datasets may have one name; an invalid name or checksum is 422."""
    for name in ("Städte", "towns", "Städte"):
        client.post("/v1/datasets/synthetic", json={"queries": 1, "name": name})
    content = b"1 qid:1 1:0.5\n"
    sent = client.post("/v1/datasets", files={"file": ("towns", content)}).json()["id"]

    def ids_matching(**filters: str) -> list[str]:
        return [item["id"] for item in client.get("/v1/datasets", params=filters).json()["items"]]

    assert len(ids_matching(name="Städte")) == 2
    assert len(ids_matching(name="towns")) == 2
    assert ids_matching(name="town") == []
    assert ids_matching(sha256=hashlib.sha256(content).hexdigest(), name="towns") == [sent]
    assert ids_matching(sha256="0" * 64) == []
    assert client.get("/v1/datasets?sha256=1").status_code == 422
    assert client.get("/v1/datasets?name=").status_code == 422


def test_an_invalid_dataset_shows_its_problem(client: TestClient, store: Store) -> None:
    """The answer has the problem that the worker found, with its line and column."""
    dataset = client.post("/v1/datasets/synthetic", json={"queries": 1}).json()
    problem = {"title": "The dataset cannot be read", "detail": "no label", "line": 7, "column": 1}
    with store.begin() as tx:
        mark_invalid(tx, dataset["id"], problem)
    shown = client.get(f"/v1/datasets/{dataset['id']}").json()
    assert (shown["status"], shown["problem"]) == ("invalid", problem)


def test_deleting_a_dataset_permanently_removes_its_files(client: TestClient, store: Store) -> None:
    """204 without a body; afterwards neither the row nor the bytes exist."""
    dataset = client.post("/v1/datasets", files={"file": ("a", b"1 qid:1 1:1\n")}).json()
    with store.begin() as tx:
        tx.jobs.request_cancel(dataset["job_id"])  # unlike a cancellation over HTTP, this keeps the upload
    path = f"/v1/datasets/{dataset['id']}"
    response = client.delete(path, params={"permanently": True})
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404
    assert client.get("/v1/trash").json()["items"] == []
    assert not store.artifacts.exists(f"datasets/{dataset['id']}/upload")


def test_a_dataset_in_use_stays(client: TestClient, store: Store) -> None:
    """409 names the queued or running job that needs the dataset."""
    dataset = client.post("/v1/datasets", files={"file": ("a", b"1 qid:1 1:1\n")}).json()
    response = client.delete(f"/v1/datasets/{dataset['id']}")
    assert response.status_code == 409
    assert response.json()["type"] == "/problems/still-needed"
    assert [holder["id"] for holder in response.json()["holders"]] == [dataset["job_id"]]
    assert "cancel the job or wait for its end" in response.json()["detail"]
    assert store.artifacts.exists(f"datasets/{dataset['id']}/upload")
