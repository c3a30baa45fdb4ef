"""Requests without a key, with an invalid key, beyond the scope of a key, and in sessions."""

import contextlib
import itertools
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.http.caller import GRANTS
from core.store import Store, StoreSettings
from core.store.clock import utc_now
from tests.integration.waiting import wait_for
from tests.security.attack import Attack, exchange
from tests.security.conftest import SCOPES, Send
from tests.security.target import Target

OPEN = {"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"}
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def required_scope(method: str, path: str) -> str:
    """Return the scope of an operation, by the documented rules."""
    if path.startswith(("/v1/keys", "/v1/audit", "/v1/settings", "/v1/webhooks")):
        return "admin"
    if path.endswith(("/rank", "/infer", "/lists", "/events")) and path != "/v1/events":
        return "score"
    return "read" if method in {"GET", "HEAD", "OPTIONS"} or "/export" in path else "write"


@pytest.fixture(scope="module")
def operations(target: Target) -> list[tuple[str, str]]:
    """Return method and path of every operation that needs a key, its path with placeholders for ids."""
    with target.client() as http:
        paths: dict[str, Any] = http.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), path) for path, methods in paths.items() for method in methods if path not in OPEN
    ]


# Only one scope is tested here by default: tests/app/auth/test_rules.py calls every route with each scope.
@pytest.mark.parametrize(
    "scope", [scope if scope == "write" else pytest.param(scope, marks=pytest.mark.slow) for scope in SCOPES]
)
def test_a_scope_grants_only_the_documented_operations(
    target: Target, send: Send, operations: list[tuple[str, str]], scope: str
) -> None:
    """Each scope calls each operation: a 403 names the missing scope, and only granted calls pass."""
    assert len(operations) > 30
    for method, path in operations:
        answer = send(_probe(method, path, scope))
        if required_scope(method, path) in GRANTS[scope]:
            assert answer.status not in {401, 403}, (method, path)
        elif method == "HEAD":
            assert answer.status == 403, path
        else:
            assert (answer.status, answer.problem) == (403, "forbidden"), (method, path)
            assert required_scope(method, path).encode() in answer.body


def test_operations_pages_and_files_require_a_key(
    target: Target, send: Send, operations: list[tuple[str, str]]
) -> None:
    """Without a key, each path answers 401, or 404 or 405 if it is not an operation."""
    others = [
        "/",
        "/jobs/x",
        "/datasets",
        "/train",
        "/models",
        "/models/x",
        "/evaluations",
        "/comparisons",
        "/rankings",
        "/rankings/x",
        "/docs",
        "/redoc",
        "/openapi.json",
    ]
    others += [
        "/metrics",
        "/static/page/api.js",
        "/static-offline-docs/redoc.standalone.js",
    ]
    others += [
        "/nothing",
        "/v1",
        "/v1/",
        "/healthz/",
        "/readyz/../v1/jobs",
        "/sign-in/../v1/jobs",
        "//v1/jobs",
    ]
    others += ["/V1/jobs", "/v1/jobs/", "/static/styles/..%2fviews/jobs.js", "/%76%31/jobs", "/v1%2fjobs"]
    for method, path in [*operations, *itertools.product(("GET", "HEAD", "OPTIONS"), others)]:
        answer = send(_probe(method, path, None))
        assert answer.status in {401, 404, 405}, (method, path)
        if answer.status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
        else:
            assert path not in {path for _, path in operations}, (method, path)


def test_method_override_headers_do_not_extend_a_scope(send: Send) -> None:
    """A read key can write neither with a method in a header nor with an unusual method."""
    for name in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
        answer = send(Attack("/v1/datasets/{broken}", 200, headers=((name, "DELETE"),), scope="read"))
        assert answer.status == 200
    for method in ("POST", "PATCH", "delete", "PROPFIND", "CONNECT", "TRACK"):
        assert send(Attack("/v1/datasets/{broken}", 403, method=method, scope="read")).status in {
            400,
            403,
            405,
        }
    assert send(Attack("/v1/datasets/{broken}", 200)).status == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer ",
        "Bearer rk_",
        "Bearer null",
        "Basic cm9vdDpyb290",
        "Bearer rk_{}".format("A" * 43),
        "Bearer rk_%",
        "Bearer ' OR 1=1 --",
        "Bearer rk_\xe9",
        "Bearer " + "r" * 8_000,
        "bearer{key}",
        "Token {key}",
        "Bearer {key}x",
        "Bearer {truncated}",
    ],
)
def test_an_invalid_credential_is_refused(target: Target, authorization: str) -> None:
    """Each invalid credential gets the same 401, and the answer does not contain the credential."""
    key = target.secrets["read"]
    value = authorization.replace("{key}", key).replace("{truncated}", key[:-1])
    attack = Attack("/v1/jobs", 401, headers=(("Authorization", value),), scope=None)
    answer = exchange(target.url, attack.request(target.url, {}, {}), from_address="127.0.0.3")
    assert (answer.status, answer.problem) == (401, "unauthenticated")
    assert key.encode()[:-1] not in answer.body


def test_unknown_expired_and_revoked_keys_get_equal_answers(target: Target) -> None:
    """The three answers are equal except for the request's id and the date."""
    expired = target.make_key("read", expires_at=(utc_now() + timedelta(days=1)).isoformat())
    revoked = target.make_key("read")
    with target.client() as http:
        ids = {key["hint"]: key["id"] for key in http.get("/v1/keys").json()["items"]}
        assert http.delete(f"/v1/keys/{ids[revoked[:8]]}").status_code == 204
    store = Store.open(StoreSettings(data_dir=target.data_dir))
    with store.begin() as tx:
        tx.api_keys.get(ids[expired[:8]]).expires_at = utc_now()
    store.close()
    wait_for(lambda: all(_with_key(target, each, "127.0.0.4").status == 401 for each in (expired, revoked)))
    answers = [_with_key(target, secret, "127.0.0.4") for secret in (f"rk_{'B' * 43}", expired, revoked)]
    assert {answer.status for answer in answers} == {401}
    assert len({answer.body for answer in answers}) == 1
    differing_headers = {"x-request-id", "date"}
    compared_headers = [
        {name: value for name, value in a.headers.items() if name not in differing_headers} for a in answers
    ]
    assert compared_headers[0] == compared_headers[1] == compared_headers[2]


def test_an_address_with_many_wrong_keys_is_throttled(target: Target) -> None:
    """After many wrong keys the service throttles an address, and accepts good keys from other addresses."""
    statuses = [_with_key(target, f"rk_{number:043}", "127.0.0.5") for number in range(40)]
    assert statuses[0].status == 401
    assert statuses[-1].status == 429
    assert int(statuses[-1].headers["retry-after"]) >= 1
    assert _with_key(target, target.secrets["read"], "127.0.0.6").status == 200


def test_a_key_is_shown_once(target: Target, send: Send) -> None:
    """No later answer and no file of the data folder has the secret."""
    secret = target.make_key("read")
    for path in ("/v1/keys", "/v1/audit", "/metrics"):
        assert secret.encode() not in send(Attack(path, 200)).body
    # Unlike `rglob`, `walk` allows for folders that the worker removes meanwhile.
    for folder, _, names in os.walk(target.data_dir):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                assert secret.encode() not in Path(folder, name).read_bytes(), name


def test_sign_in_replaces_and_sign_out_ends_the_session_token(target: Target) -> None:
    """Each sign-in creates a new token, which is invalid after sign-out or revocation."""
    secret = target.make_key("read")
    with _browser(target) as http:
        http.cookies.set("rankery_session", "chosen-by-an-attacker")
        assert http.post("/sign-in", content=f"key={secret}", headers=dict([FORM])).status_code == 303
        token = _token(http)
        assert token != "chosen-by-an-attacker"
        assert http.get("/v1/jobs").status_code == 200
        assert http.post("/sign-out").status_code == 303
    assert _with_cookie(target, token) == 401
    with _browser(target) as http:
        http.post("/sign-in", content=f"key={secret}", headers=dict([FORM]))
        stolen = _token(http)
        assert _with_cookie(target, stolen) == 200
    with target.client() as http:
        key = next(k for k in http.get("/v1/keys").json()["items"] if secret.startswith(k["hint"]))
        http.delete(f"/v1/keys/{key['id']}")
    wait_for(lambda: _with_cookie(target, stolen) == 401)


def test_a_cookie_alone_changes_nothing(target: Target) -> None:
    """A write needs the cookie and a header with which the browser confirms the same origin."""
    secret = target.make_key("write")
    with _browser(target) as http:
        answer = http.post("/sign-in", content=f"key={secret}", headers=dict([FORM]))
        cookie = answer.headers["set-cookie"].lower()
        token = _token(http)
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    for headers in (
        (),
        (("Sec-Fetch-Site", "same-site"),),
        (("Origin", "https://evil.example"),),
        (("Origin", "null"),),
    ):
        attack = Attack(
            "/v1/datasets/synthetic", 401, method="POST", scope=None, body={"queries": 1},
            headers=(("Cookie", f"rankery_session={token}"), *headers),
        )  # fmt: skip
        assert exchange(target.url, attack.request(target.url, {}, {})).status in {401, 403}


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        "/%5cevil.example/../..//evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\t/evil.example",
        "/\r\nSet-Cookie: stolen=1",
        " //evil.example",
        "http:evil.example",
        "///evil.example",
        "/sign-in?next=/sign-in",
        "@evil.example",
    ],
)
def test_sign_in_redirects_only_to_this_service(target: Target, wanted: str) -> None:
    """For any `next`, page and redirect have an address of this service."""
    with _browser(target) as http:
        form = {"key": target.secrets["read"], "next": wanted}
        location = http.post("/sign-in", data=form).headers["location"]
        landed = httpx.URL(target.url).join(location)
        assert (landed.scheme, landed.netloc) == ("http", httpx.URL(target.url).netloc)
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))
        assert "set-cookie: stolen" not in location.lower()
        page = http.get("/sign-in", params={"next": wanted}).text
        assert f'value="{wanted}"' not in page or wanted.startswith("/%5c")


def _probe(method: str, path: str, scope: str | None) -> Attack:
    filled = path.replace("{", "no-such-").replace("}", "")
    body = "{}" if method in {"POST", "PUT"} else None
    return Attack(filled, 0, method=method, scope=scope, body=body)


def _with_key(target: Target, secret: str, address: str) -> Any:
    attack = Attack("/v1/jobs?limit=1", 0, scope="any")
    return exchange(target.url, attack.request(target.url, {}, {"any": secret}), from_address=address)


def _with_cookie(target: Target, token: str) -> int:
    attack = Attack("/v1/jobs?limit=1", 0, headers=(("Cookie", f"rankery_session={token}"),), scope=None)
    return exchange(target.url, attack.request(target.url, {}, {})).status


def _browser(target: Target) -> httpx.Client:
    return httpx.Client(base_url=target.url, trust_env=False, headers={"Sec-Fetch-Site": "same-origin"})


def _token(http: httpx.Client) -> str:
    return next(
        cookie.value or ""
        for cookie in http.cookies.jar
        if cookie.name == "rankery_session" and cookie.domain
    )
