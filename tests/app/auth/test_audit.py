"""Audit of changes and attempted changes."""

from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI

from core.store import Store
from tests.app.auth.conftest import Bearer, Secrets
from tests.app.conftest import TestClient


def audit(client: TestClient, headers: dict[str, str], **parameters: str) -> list[dict[str, Any]]:
    """Read the newest entries."""
    answer = client.get("/v1/audit", headers=headers, params=parameters)
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()["items"]
    return entries


def test_a_write_is_recorded_with_its_key(client: TestClient, bearer: Bearer, store: Store) -> None:
    """An entry has the key, method, path, status, request id and address."""
    headers = {**bearer("write"), "X-Request-ID": "r-17"}
    answer = client.post("/v1/datasets/synthetic?a=secret", json={"queries": 1}, headers=headers)
    assert answer.status_code == 202
    (entry,) = audit(client, bearer("admin"))
    with store.read() as tx:
        key = next(key for key in tx.api_keys.page(None, 10).items if key.name == "write")
    del entry["id"], entry["at"]
    assert entry == {
        "key_id": key.id,
        "method": "POST",
        "path": "/v1/datasets/synthetic",
        "status": 202,
        "request_id": "r-17",
        "address": "testclient",
    }


@pytest.mark.parametrize(
    ("method", "path", "scope", "status"),
    [
        ("DELETE", "/v1/datasets/ds_1", "write", 404),
        ("PUT", "/v1/models/web/aliases/best", "write", 415),
        ("POST", "/v1/jobs", "read", 403),
        ("POST", "/v1/jobs", "rk_wrong", 401),
        ("POST", "/v1/models/web/rank", "read", 403),
        ("PATCH", "/v1/jobs", "write", 405),
        ("DELETE", "/v1/%00%0A/%F0%9F%92%A9", "write", 404),
    ],
)
def test_refused_requests_are_recorded(
    client: TestClient, bearer: Bearer, method: str, path: str, scope: str, status: int
) -> None:
    """An entry has the status of the answer and the path as sent."""
    answer = client.request(
        method, path, headers={**bearer(scope), "Content-Type": "text/plain"}, content=b"x"
    )
    assert answer.status_code == status
    (entry,) = audit(client, bearer("admin"))
    assert (entry["method"], entry["path"], entry["status"]) == (method, path, status)
    assert (entry["key_id"] is None) == (status == 401)
    assert entry["request_id"] == answer.headers["x-request-id"]


def test_foreign_hosts_and_origins_are_recorded(client: TestClient, bearer: Bearer) -> None:
    """A foreign host or origin is refused before the key is read."""
    client.post("/v1/jobs", headers={**bearer("write"), "Host": "evil.example"})
    client.post("/v1/jobs", headers={**bearer("write"), "Origin": "http://evil.example"})
    entries = audit(client, bearer("admin"))
    assert [(entry["status"], entry["key_id"]) for entry in entries] == [(403, None), (421, None)]


@pytest.mark.long
def test_signing_out_is_recorded_with_the_key_of_the_session(
    client: TestClient, bearer: Bearer, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing out without a session is recorded no more often than a refused request, 60 times a minute."""
    monkeypatch.setattr("app.auth.audit.time", SimpleNamespace(monotonic=lambda: 0.0))
    client.post("/sign-in", data={"key": secrets["read"]}, follow_redirects=False)
    client.post("/sign-out", headers={"Origin": "http://127.0.0.1"}, follow_redirects=False)
    sign_out, sign_in = audit(client, bearer("admin"))
    assert sign_out["path"] == "/sign-out"
    assert sign_out["key_id"] == sign_in["key_id"] is not None
    for _ in range(70):
        client.post("/sign-out", headers={"Cookie": "rankery_session=none"}, follow_redirects=False)
    assert len(audit(client, bearer("admin"), limit="200")) == 2 + 60


def test_reading_and_scoring_are_not_recorded(client: TestClient, bearer: Bearer) -> None:
    """Reads and scoring change nothing, and arrive in hundreds a second."""
    assert client.get("/v1/jobs", headers=bearer("read")).status_code == 200
    assert client.get("/v1/keys", headers=bearer("read")).status_code == 403
    assert client.post("/v1/models/web/rank", headers=bearer("score"), json={}).status_code == 422
    assert client.post("/v1/models/web/export", headers=bearer("read"), json={}).status_code == 404
    assert audit(client, bearer("admin")) == []


def test_writes_before_the_first_key_are_recorded_without_a_key(client: TestClient) -> None:
    """The entry of a write has no key if the service has none."""
    client.post("/v1/datasets/synthetic", json={"queries": 1})
    (entry,) = audit(client, {})
    assert (entry["key_id"], entry["status"]) == (None, 202)


def test_signing_in_is_recorded_with_the_key(client: TestClient, secrets: Secrets, bearer: Bearer) -> None:
    """Failed attempts are recorded without a key."""
    for key in ("rk_wrong", secrets["read"]):
        client.post("/sign-in", data={"key": key}, follow_redirects=False)
    failed, succeeded = audit(client, bearer("admin"))[::-1]
    assert (failed["path"], failed["status"], failed["key_id"]) == ("/sign-in", 401, None)
    assert (succeeded["path"], succeeded["status"]) == ("/sign-in", 303)
    assert succeeded["key_id"] is not None


def test_writes_that_end_in_500_are_recorded(
    application: FastAPI, client: TestClient, bearer: Bearer
) -> None:
    """A write that failed half-way may have changed something."""

    def fail() -> None:
        raise RuntimeError

    application.add_api_route("/v1/fail", fail, methods=["POST"])
    assert client.post("/v1/fail", headers=bearer("write")).status_code == 500
    assert audit(client, bearer("admin"))[0]["status"] == 500


def test_entries_are_paged_and_filtered_by_key(client: TestClient, bearer: Bearer, store: Store) -> None:
    """Entries are listed newest first; the cursor visits each of them once."""
    for scope in ("write", "write", "admin", "write"):
        client.delete("/v1/datasets/ds_1", headers=bearer(scope))
    all_entries = audit(client, bearer("admin"))
    key_id = all_entries[0]["key_id"]
    mine = audit(client, bearer("admin"), key_id=key_id)
    assert [entry["key_id"] for entry in mine] == [key_id] * 3
    pages, cursor = [], None
    while True:
        parameters = {"limit": "1", "key_id": key_id, **({"cursor": cursor} if cursor else {})}
        page = client.get("/v1/audit", headers=bearer("admin"), params=parameters).json()
        pages += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert pages == mine
    assert [entry["id"] for entry in all_entries] == sorted((e["id"] for e in all_entries), reverse=True)


def test_a_burst_of_requests_without_a_key_does_not_fill_the_audit(
    client: TestClient, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst of requests without a key leaves sixty entries; a request with a key is recorded."""
    monkeypatch.setattr("app.auth.audit.time", SimpleNamespace(monotonic=lambda: 0.0))
    for _ in range(80):
        client.delete("/v1/datasets/ds_1")
    client.delete("/v1/datasets/ds_1", headers=bearer("write"))
    entries = audit(client, bearer("admin"), limit="200")
    assert sum(entry["status"] == 401 for entry in entries) == 60
    assert entries[0]["status"] == 404
