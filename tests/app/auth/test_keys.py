"""Creating, listing and revoking API keys over HTTP, and their scopes."""

import time
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI

from app import ApiSettings
from app.auth import authenticator
from app.auth.authenticator import Authenticator
from app.auth.credentials import Credential
from app.auth.key_cache import FRESH_SECONDS
from app.http.services import registered
from core.store import Store
from core.store.clock import utc_now
from core.store.repositories.api_keys import secret_sha256
from tests.app.auth.conftest import Bearer, Secrets
from tests.app.conftest import TestClient


def create_key(client: TestClient, headers: dict[str, str] | None = None, **values: Any) -> dict[str, Any]:
    """Create a key over the API."""
    body = {"name": "ci", "scopes": ["read"], **values}
    response = client.post("/v1/keys", json=body, headers=headers)
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return created


def test_every_request_needs_a_key_once_a_key_exists(client: TestClient) -> None:
    """Loopback requests need no key before; afterwards 401 describes the header to send."""
    assert client.get("/v1/jobs").status_code == 200
    key = create_key(client, scopes=["admin"])
    refused = client.get("/v1/jobs")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert refused.json() == {
        "type": "/problems/unauthenticated",
        "title": "An API key is required",
        "status": 401,
        "detail": "send an API key as `Authorization: Bearer rk_…`",
    }
    assert client.get("/v1/jobs", headers={"Authorization": f"bearer  {key['secret']}"}).status_code == 200


def test_the_first_key_needs_the_scope_admin(client: TestClient) -> None:
    """With a first key that may only write, no request could create a further key."""
    refused = client.post("/v1/keys", json={"name": "ci", "scopes": ["write", "score"]})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/scopes")
    assert client.get("/v1/jobs").status_code == 200
    first = create_key(client, scopes=["admin"])
    second = create_key(client, {"Authorization": f"Bearer {first['secret']}"}, scopes=["write"])
    assert second["scopes"] == ["write"]


@pytest.mark.long
def test_keys_stay_required_when_the_last_key_is_revoked(
    client: TestClient, bearer: Bearer, store: Store
) -> None:
    """Otherwise a service without keys would accept every caller again."""
    with store.begin() as tx:
        for key in tx.api_keys.page(None, 10).items:
            tx.api_keys.revoke(key.id)
    time.sleep(FRESH_SECONDS)
    assert client.get("/v1/jobs").status_code == 401


def test_a_secret_is_shown_only_once(client: TestClient, bearer: Bearer) -> None:
    """Neither the list nor a cache contains the secret."""
    response = client.post("/v1/keys", json={"name": "ci", "scopes": ["read"]}, headers=bearer("admin"))
    secret = response.json()["secret"]
    assert response.headers["cache-control"] == "no-store"
    listed = client.get("/v1/keys", headers=bearer("admin"))
    assert secret not in listed.text
    assert secret_sha256(secret) not in listed.text
    (shown,) = [key for key in listed.json()["items"] if key["id"] == response.json()["id"]]
    assert shown["hint"] == secret[:8]
    assert {**shown, "secret": secret} == response.json()


def test_a_key_records_its_creator_and_its_limits(client: TestClient, bearer: Bearer, store: Store) -> None:
    """A key records its limits, its expiry in UTC and the id of the key that created it."""
    end = (utc_now() + timedelta(days=90)).replace(microsecond=0)
    created_key = create_key(
        client,
        bearer("admin"),
        scopes=["score", "write"],
        expires_at=end.astimezone(timezone(timedelta(hours=5))).isoformat(),
        max_active_jobs=3,
        max_stored_bytes=10,
    )
    with store.read() as tx:
        key = tx.api_keys.get(created_key["id"])
        creator = tx.api_keys.get(str(key.created_by))
    assert creator.scopes == ["admin"]
    assert (key.max_active_jobs, key.max_stored_bytes, key.expires_at) == (3, 10, end)
    assert created_key["expires_at"] == f"{end:%Y-%m-%dT%H:%M:%SZ}"


INVALID_KEYS: list[tuple[dict[str, Any], str]] = [
    ({"scopes": ["read"]}, "/name"),
    ({"name": "", "scopes": ["read"]}, "/name"),
    ({"name": "a\nb", "scopes": ["read"]}, "/name"),
    ({"name": "ci", "scopes": []}, "/scopes"),
    ({"name": "ci", "scopes": ["root"]}, "/scopes/0"),
    ({"name": "ci", "scopes": ["read", "read"]}, "/scopes"),
    ({"name": "ci", "scopes": "admin"}, "/scopes"),
    ({"name": "ci", "scopes": ["read"], "expires_at": 1}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "expires_at": "1900000000"}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "expires_at": "2100-01-01"}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "expires_at": "2100-01-01T00:00:00"}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "expires_at": "9999-12-31T23:59:59-12:00"}, "/expires_at"),
    ({"name": "ci", "scopes": ["read"], "max_active_jobs": -1}, "/max_active_jobs"),
    ({"name": "ci", "scopes": ["read"], "max_stored_bytes": 2**63}, "/max_stored_bytes"),
    ({"name": "ci", "scopes": ["read"], "secret": "rk_mine"}, "/secret"),
]


def test_a_key_with_an_invalid_field_is_refused(client: TestClient, bearer: Bearer) -> None:
    """422 points at the invalid field."""
    for body, pointer in INVALID_KEYS:
        response = client.post("/v1/keys", json=body, headers=bearer("admin"))
        assert response.status_code == 422, body
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_unknown_expired_and_revoked_keys_get_the_same_answer(
    client: TestClient, bearer: Bearer, store: Store
) -> None:
    """The answer does not reveal that a key was ever valid."""
    with store.begin() as tx:
        expired, expired_secret = tx.api_keys.create("a", ["read"], expires_at=utc_now() + timedelta(days=1))
        tx.api_keys.get(expired.id).expires_at = utc_now()
        revoked, revoked_secret = tx.api_keys.create("b", ["read"])
        tx.api_keys.revoke(revoked.id)
    answers = [
        client.get("/v1/jobs", headers=bearer(secret))
        for secret in (expired_secret, revoked_secret, "rk_unknown", "")
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["detail"] == "the API key is unknown, expired or revoked"


def test_a_revoked_key_is_refused_immediately(client: TestClient, bearer: Bearer) -> None:
    """The next request with the key is refused; revoking it again is 204, and an unknown key is 404."""
    key = create_key(client, bearer("admin"))
    assert client.get("/v1/jobs", headers=bearer(key["secret"])).status_code == 200
    for _ in range(2):
        assert client.delete(f"/v1/keys/{key['id']}", headers=bearer("admin")).status_code == 204
        assert client.get("/v1/jobs", headers=bearer(key["secret"])).status_code == 401
    assert client.delete("/v1/keys/key_1", headers=bearer("admin")).status_code == 404


@pytest.mark.long
def test_a_key_revoked_elsewhere_is_refused_within_a_second(
    client: TestClient, bearer: Bearer, store: Store
) -> None:
    """A change by another process takes effect after the second for which an accepted key is cached."""
    with store.begin() as tx:
        key, secret = tx.api_keys.create("ci", ["read"])
    assert client.get("/v1/jobs", headers=bearer(secret)).status_code == 200
    with store.begin() as tx:
        tx.api_keys.revoke(key.id)
    time.sleep(FRESH_SECONDS)
    assert client.get("/v1/jobs", headers=bearer(secret)).status_code == 401


def test_the_last_use_is_recorded(client: TestClient, bearer: Bearer, store: Store) -> None:
    """A request that is refused for its scope counts as a use of the key."""
    before = datetime.now(UTC)
    client.get("/v1/jobs", headers=bearer("read"))
    client.get("/v1/jobs", headers=bearer("score"))
    listed = client.get("/v1/keys", headers=bearer("admin")).json()["items"]
    used = {key["name"]: key["last_used_at"] for key in listed}
    assert used["write"] is None
    for name in ("read", "score"):
        assert before <= datetime.fromisoformat(used[name]) <= datetime.now(UTC)


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the limit on wrong keys, which allows one more attempt every three seconds."""
    monkeypatch.setattr(authenticator, "time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.mark.usefixtures("stopped_clock")
def test_wrong_keys_are_limited(
    application: FastAPI, client: TestClient, secrets: Secrets, bearer: Bearer, settings: ApiSettings
) -> None:
    """After twenty wrong keys of an address the answer is 429, at sign-in as well; others get 401."""
    assert settings.wrong_keys_per_minute == 20
    statuses = [client.get("/v1/jobs", headers=bearer(f"rk_{n}")).status_code for n in range(21)]
    assert statuses == [401] * 20 + [429]
    refused = client.get("/v1/jobs", headers=bearer("rk_wrong"))
    assert refused.status_code == 429
    assert refused.json()["type"] == "/problems/too-many-wrong-keys"
    assert 1 <= int(refused.headers["retry-after"]) <= 3
    assert client.post("/sign-in", data={"key": "rk_wrong"}).status_code == 429
    other = TestClient(application, base_url="http://127.0.0.1", client=("192.0.2.1", 1))
    assert other.get("/v1/jobs", headers=bearer("rk_wrong")).status_code == 401


@pytest.mark.usefixtures("stopped_clock")
def test_valid_keys_pass_however_many_wrong_ones_come_from_their_address(
    client: TestClient, secrets: Secrets, bearer: Bearer
) -> None:
    """Valid keys are accepted in a header and at sign-in, whether seen before or not."""
    for number in range(30):
        client.get("/v1/jobs", headers=bearer(f"rk_{number}"))
    for _ in range(30):
        assert client.get("/v1/jobs", headers=bearer("read")).status_code == 200
    form = {"key": secrets["write"]}
    assert client.post("/sign-in", data=form, follow_redirects=False).status_code == 303
    assert client.get("/v1/jobs", headers=bearer("rk_wrong")).status_code == 429


def test_requests_of_one_caller_leave_other_keys_cached(
    application: FastAPI, client: TestClient, secrets: Secrets, bearer: Bearer
) -> None:
    """Neither signing out nor creating and revoking keys removes another key from the cache."""
    key_cache = registered(application, Authenticator).key_cache
    reader = Credential.of_key(secrets["read"])
    assert client.get("/v1/jobs", headers=bearer("read")).status_code == 200
    client.post("/sign-out", headers={"Cookie": "rankery_session=none"})
    client.post("/sign-in", data={"key": secrets["write"]}, follow_redirects=False)
    client.post("/sign-out", headers={"Origin": "http://127.0.0.1"})
    key = create_key(client, bearer("admin"))
    assert client.delete(f"/v1/keys/{key['id']}", headers=bearer("admin")).status_code == 204
    assert key_cache.last_known_caller(reader) is not None
    assert key_cache.last_known_caller(Credential.of_key(key["secret"])) is None


def test_the_hash_of_a_key_is_not_accepted_as_a_key(
    client: TestClient, secrets: Secrets, bearer: Bearer
) -> None:
    """The hash of a key in the database is not a valid key."""
    assert client.get("/v1/jobs", headers=bearer(secret_sha256(secrets["admin"]))).status_code == 401


def test_an_idempotency_key_belongs_to_its_caller(client: TestClient, bearer: Bearer) -> None:
    """Two callers with the same Idempotency-Key create two datasets."""
    mine, yours = bearer("admin"), bearer("write")
    body, once = {"queries": 3}, {"Idempotency-Key": "nightly"}
    first = client.post("/v1/datasets/synthetic", json=body, headers={**mine, **once})
    again = client.post("/v1/datasets/synthetic", json=body, headers={**mine, **once})
    other = client.post("/v1/datasets/synthetic", json=body, headers={**yours, **once})
    assert first.json()["id"] == again.json()["id"] != other.json()["id"]
