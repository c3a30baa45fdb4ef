"""Idempotency-Key: one key, one creation."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app import ApiSettings
from core.store import Model, Store
from tests.app.conftest import TestClient
from tests.servers.fixtures import stored_datasets

KEY = {"Idempotency-Key": "nightly-7"}
LETOR = b"1 qid:1 1:1\n"


def _count(client: TestClient, noun: str) -> int:
    return len(client.get(f"/v1/{noun}?limit=200").json()["items"])


def test_a_repeated_job_is_submitted_once(client: TestClient, train_request: dict[str, Any]) -> None:
    """The second answer is the first one, marked as replayed, even if the job has changed since."""
    first = client.post("/v1/jobs", json=train_request, headers=KEY)
    client.post(f"/v1/jobs/{first.json()['id']}/cancel")
    second = client.post("/v1/jobs", json=train_request, headers=KEY)
    assert second.status_code == first.status_code == 202
    assert second.json() == first.json()
    assert second.headers["location"] == first.headers["location"]
    assert second.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert _count(client, "jobs") == 1


def test_a_key_is_not_reused_for_something_else(client: TestClient) -> None:
    """Another body with the same key is refused and creates nothing."""
    client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=KEY)
    response = client.post("/v1/datasets/synthetic", json={"queries": 2}, headers=KEY)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/Idempotency-Key"
    assert _count(client, "datasets") == 1


def test_a_key_belongs_to_its_endpoint(client: TestClient) -> None:
    """The same key at another endpoint creates a second dataset instead of a replay."""
    client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=KEY)
    assert client.post("/v1/datasets", files={"file": ("a", LETOR)}, headers=KEY).status_code == 202
    assert _count(client, "datasets") == 2


def test_a_refused_request_does_not_use_up_its_key(client: TestClient) -> None:
    """A key is stored only with a created object."""
    assert client.post("/v1/datasets/synthetic", json={"queries": 0}, headers=KEY).status_code == 422
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=KEY).status_code == 202


def test_without_a_key_each_request_creates(client: TestClient) -> None:
    """Two requests without a key create two datasets."""
    for _ in range(2):
        client.post("/v1/datasets/synthetic", json={"queries": 1})
    assert _count(client, "datasets") == 2


def test_a_repeated_upload_is_stored_once(client: TestClient, settings: ApiSettings) -> None:
    """The replay names the first dataset and drops the new bytes; a file with other bytes is refused."""
    first = client.post("/v1/datasets", files={"file": ("a", LETOR)}, headers=KEY)
    second = client.post("/v1/datasets", files={"file": ("a", LETOR)}, headers=KEY)
    other = client.post("/v1/datasets", files={"file": ("a", LETOR * 2)}, headers=KEY)
    assert (first.status_code, second.status_code, other.status_code) == (202, 202, 422)
    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert stored_datasets(settings.storage_url) == {first.json()["id"]}


@pytest.mark.both_stores
def test_a_key_of_an_endpoint_with_long_names(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """Paths that differ at their ends have separate keys, even if they are longer than the column."""
    name, aliases = "n" * 100, ("a" * 99 + "1", "a" * 99 + "2")
    for _ in range(2):
        add_model(name)
    with store.begin() as tx:
        _, secret = tx.api_keys.create("ours", ["read", "write"])
        for alias in aliases:
            tx.aliases.move(name, alias, 1)
            tx.aliases.move(name, alias, 2)
    key = {"Authorization": f"Bearer {secret}", **KEY}
    for alias in aliases:
        for replayed in (None, "true"):
            answer = client.post(f"/v1/models/{name}/aliases/{alias}/rollback", headers=key)
            assert answer.status_code == 200, answer.text
            assert answer.headers.get("idempotency-replayed") == replayed
    with store.read() as tx:
        assert [tx.aliases.get(name, alias).model.version for alias in aliases] == [1, 1]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\x01b"])
def test_an_odd_key_is_refused(client: TestClient, key: str) -> None:
    """A key is up to 255 printable characters."""
    response = client.post("/v1/datasets/synthetic", json={"queries": 1}, headers={"Idempotency-Key": key})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/Idempotency-Key"


@pytest.mark.both_stores
def test_simultaneous_requests_create_once(client: TestClient) -> None:
    """One of the concurrent requests creates; the others get its answer."""

    def create(_: int) -> tuple[int, str | None]:
        response = client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=KEY)
        return response.status_code, response.json().get("id")

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(create, range(16)))
    assert {status for status, _ in answers} == {202}
    assert len({created_id for _, created_id in answers}) == 1
    assert _count(client, "datasets") == _count(client, "jobs") == 1
