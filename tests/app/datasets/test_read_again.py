"""Reading the upload of an invalid dataset again."""

import json
from typing import Any

import pytest

from app import ApiSettings
from core.store import Store
from core.store.artifacts.keys import dataset_upload_key
from tests.app.conftest import TestClient
from tests.invalid_datasets import mark_invalid

PROBLEM: dict[str, Any] = {
    "title": "Dataset cannot be read",
    "detail": "…",
    "errors": [],
    "causes": [
        {"cause": "not_a_number", "title": "Not a number", "column": "price", "count": 7, "can_ignore": True}
    ],
}


def _invalid(client: TestClient, store: Store, columns: dict[str, Any]) -> str:
    files = {"file": ("shop.csv", b"label,qid,x,price\n1,q,1,free\n")}
    response = client.post("/v1/datasets", files=files, data={"columns": json.dumps(columns)})
    dataset_id: str = response.json()["id"]
    with store.begin() as tx:
        job = tx.jobs.claim_next(["ingest"], "w1", 60.0)
        assert job is not None
        tx.jobs.fail(job.id, job.token, PROBLEM)
    return dataset_id


def test_an_upload_is_read_again_without_columns(client: TestClient, store: Store) -> None:
    """A new job reads the same dataset; an ignored column has no other role."""
    columns = {"features": ["x", "price"], "ignore": ["old"]}
    dataset_id = _invalid(client, store, columns)
    before = client.get(f"/v1/datasets/{dataset_id}").json()
    assert before["status"] == "invalid"
    assert before["problem"]["causes"][0]["count"] == 7
    response = client.post(f"/v1/datasets/{dataset_id}/read-again", json={"ignore": ["price", "price"]})
    assert response.status_code == 202, response.text
    after = response.json()
    assert (after["id"], after["status"], after["problem"]) == (dataset_id, "pending", None)
    assert after["job_id"] != before["job_id"]
    assert after["source"]["options"]["columns"] == {"features": ["x"], "ignore": ["old", "price"]}
    assert client.get(f"/v1/jobs/{after['job_id']}").json()["status"] == "queued"
    assert store.artifacts.exists(dataset_upload_key(dataset_id))
    again = client.post(f"/v1/datasets/{dataset_id}/read-again", json={"ignore": ["other"]})
    assert (again.status_code, "pending" in again.json()["detail"]) == (409, True)


def test_only_columns_that_prevent_reading_are_ignored(client: TestClient, store: Store) -> None:
    """A misspelled column is refused before the upload is read, which would fail and delete the bytes."""
    dataset_id = _invalid(client, store, {})
    response = client.post(f"/v1/datasets/{dataset_id}/read-again", json={"ignore": ["price", "prise"]})
    assert response.status_code == 422
    assert response.json()["errors"] == [
        {"pointer": "/ignore/1", "detail": "'prise' does not prevent reading, only price"}
    ]
    assert client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "invalid"
    assert store.artifacts.exists(dataset_upload_key(dataset_id))


def test_a_dataset_without_its_upload_is_not_read_again(client: TestClient, store: Store) -> None:
    """The dataset stays invalid, and the answer describes the remedy."""
    dataset_id = _invalid(client, store, {})
    store.artifacts.delete(dataset_upload_key(dataset_id))
    response = client.post(f"/v1/datasets/{dataset_id}/read-again", json={"ignore": ["price"]})
    assert (response.status_code, "upload the file again" in response.json()["detail"]) == (409, True)
    assert client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "invalid"


@pytest.mark.parametrize("ignore", [[], ["price"]])
@pytest.mark.parametrize("kind", ["folder", "address"])
def test_files_are_read_again_as_they_are_now(
    client: TestClient, store: Store, kind: str, ignore: list[str]
) -> None:
    """Files at URLs or in a folder may have been corrected; options stay, and columns may be ignored."""
    source = {"kind": kind, "format": "csv", "options": {"columns": {"query": "qid"}}}
    with store.begin() as tx:
        dataset = tx.datasets.add("shop", source)
        mark_invalid(tx, dataset.id, PROBLEM)
    response = client.post(f"/v1/datasets/{dataset.id}/read-again", json={"ignore": ignore} if ignore else {})
    assert response.status_code == 202, response.text
    columns = {"query": "qid", "ignore": ignore} if ignore else {"query": "qid"}
    assert response.json()["source"] == source | {"options": {"columns": columns}}


def test_a_download_is_read_again_within_the_quota(
    client: TestClient, store: Store, settings: ApiSettings
) -> None:
    """The bytes that the key may still store limit the second download, too."""
    settings.max_stored_bytes = 1_000
    with store.begin() as tx:
        dataset = tx.datasets.add("shop", {"kind": "address", "format": "csv"})
        mark_invalid(tx, dataset.id, PROBLEM)
    response = client.post(f"/v1/datasets/{dataset.id}/read-again", json={})
    with store.read() as tx:
        assert tx.jobs.get(response.json()["job_id"]).spec["max_bytes"] == 1_000


def test_a_generated_dataset_is_not_read_again(client: TestClient, store: Store) -> None:
    """The answer has the reason: a synthetic dataset has no file."""
    dataset_id = client.post("/v1/datasets/synthetic", json={"queries": 1}).json()["id"]
    with store.begin() as tx:
        job = tx.jobs.claim_next(["ingest"], "w1", 60.0)
        assert job is not None
        tx.jobs.fail(job.id, job.token, PROBLEM)
    response = client.post(f"/v1/datasets/{dataset_id}/read-again", json={"ignore": ["price"]})
    assert (response.status_code, "generated, not read from a file" in response.json()["detail"]) == (
        409,
        True,
    )
    assert client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "invalid"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "/ignore"), ({"ignore": []}, "/ignore"), ({"ignore": ["price"]}, "/columns/features")],
)
def test_an_invalid_list_of_ignored_columns_is_refused(
    client: TestClient, store: Store, body: dict[str, Any], pointer: str
) -> None:
    """An empty list and the only feature are refused; the dataset stays invalid."""
    dataset_id = _invalid(client, store, {"features": ["price"]})
    response = client.post(f"/v1/datasets/{dataset_id}/read-again", json=body)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "invalid"
    assert client.post("/v1/datasets/ds_none/read-again", json={"ignore": ["x"]}).status_code == 404
