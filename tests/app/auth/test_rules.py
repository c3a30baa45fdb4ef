"""Every route has a rule with the scope that it needs; a route without a rule is 404."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from app import ApiSettings, create_app
from app.auth.scopes import HEALTH, RULES, SIGN_IN_FILES, rule_of
from app.dashboard import assets
from app.http.caller import ADMIN, READ, SCORE, WRITE, Caller
from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

OPEN = HEALTH | {"/sign-in", "/sign-out"}
FILES = [f"/static/{file.relative_to(assets.FOLDER)}" for file in assets.FOLDER.rglob("*.*")]


def endpoints(routes: Any) -> Iterator[tuple[str, set[str]]]:
    """Yield the path and the methods of every route, including those of routers and mounts."""
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from endpoints(route.effective_candidates())
        elif isinstance(route, Mount):
            yield f"{route.path}/swagger-ui.css", {"GET"}
        else:
            yield route.path, set(route.methods)


def all_routes(application: FastAPI) -> list[tuple[str, str]]:
    """List each method and path that the application answers, with example values in the paths."""
    routes = {(method, path) for path, methods in endpoints(application.routes) for method in methods}
    assert len(routes) > 50
    return [(method, path.replace("{", "").replace("}", "").replace(":path", "")) for method, path in routes]


def test_every_route_is_named_by_a_rule(settings: ApiSettings) -> None:
    """A new route is not served until a rule has its scope."""
    for method, path in all_routes(create_app(settings)):
        assert rule_of(path) is not None, (method, path)


@pytest.mark.long
def test_nothing_but_health_and_sign_in_is_reached_without_a_key(
    application: FastAPI, client: TestClient, bearer: Bearer
) -> None:
    """All other routes answer 401, whether the requested object exists or not."""
    routes = [*all_routes(application), *(("GET", file) for file in FILES), ("POST", "/v1/nothing")]
    for method, path in routes:
        if (method, path) == ("POST", "/sign-in"):
            continue  # answers 401 by itself without a key
        status = client.request(method, path, follow_redirects=False).status_code
        if path in OPEN or path in SIGN_IN_FILES:
            assert status != 401, (method, path)
        else:
            assert status == 401, (method, path)


def test_the_page_to_sign_in_loads_nothing_that_needs_a_key(client: TestClient, bearer: Bearer) -> None:
    """The page loads exactly the files that need no key."""
    page = client.get("/sign-in").text
    for file in SIGN_IN_FILES:
        assert f'"{file}"' in page
        assert client.get(file).status_code == 200
    assert page.count('"/static/') == len(set(SIGN_IN_FILES)) + 1  # the page refers to the icon twice


CASES = [
    ("GET", "/v1/jobs", READ),
    ("GET", "/v1/models/web/export", READ),
    ("GET", "/", READ),
    ("GET", "/docs", READ),
    ("GET", "/jobs", READ),
    ("GET", "/guide/how-to/own-data/", READ),
    ("GET", "/openapi.json", READ),
    ("GET", "/static/page/api.js", READ),
    ("POST", "/v1/models/web/rank", SCORE),
    ("POST", "/v2/models/web/infer", SCORE),
    ("POST", "/v2/models/web/versions/1/infer", SCORE),
    ("GET", "/v2/models/web/ready", READ),
    ("GET", "/v2", READ),
    ("POST", "/v1/jobs", WRITE),
    ("POST", "/v1/datasets", WRITE),
    ("PUT", "/v1/models/web/aliases/best", WRITE),
    ("DELETE", "/v1/datasets/ds_1", WRITE),
    ("PATCH", "/v1/jobs", WRITE),
    ("GET", "/v1/keys", ADMIN),
    ("POST", "/v1/keys", ADMIN),
    ("DELETE", "/v1/keys/key_1", ADMIN),
    ("GET", "/v1/audit", ADMIN),
    ("GET", "/v1/settings", ADMIN),
    ("GET", "/settings/keys", READ),
]
INCLUDED = {READ: {READ}, SCORE: {SCORE}, WRITE: {READ, WRITE}, ADMIN: {READ, SCORE, WRITE, ADMIN}}


@pytest.mark.long
@pytest.mark.parametrize("scope", INCLUDED)
def test_a_key_can_only_call_the_routes_of_its_scope(client: TestClient, bearer: Bearer, scope: str) -> None:
    """`write` includes `read`, `admin` includes every scope, and 403 names the missing scope."""
    for method, path, needed in CASES:
        response = client.request(method, path, headers=bearer(scope))
        assert (response.status_code == 403) == (needed not in INCLUDED[scope]), (method, path)
        if response.status_code == 403:
            assert response.json()["type"] == "/problems/forbidden"
            assert response.json()["detail"].startswith(
                f"this request needs the scope {needed}; the key key_"
            )
            assert response.json()["detail"].endswith(f" has {scope}")


def test_the_scope_score_allows_only_the_scoring_paths(client: TestClient, bearer: Bearer) -> None:
    """A path that only resembles the scoring path needs `write`."""
    for path in ("/v1/models/a/rank/", "/v1/models//rank", "/v1/models/a/b/rank", "/v1/rank"):
        assert client.post(path, headers=bearer(SCORE), json={}).status_code == 403, path


def test_other_spellings_of_the_path_of_keys_are_refused(client: TestClient, bearer: Bearer) -> None:
    """Rules match a path as the router matches it."""
    for path in ("/v1/keys/", "/v1//keys", "/v1/keys/key_1/secret", "/V1/keys", "/v1/%2e/keys"):
        answer = client.get(path, headers=bearer(READ))
        assert answer.status_code in (403, 404), path
        assert "items" not in answer.text


def test_a_route_without_a_rule_is_not_found(
    application: FastAPI, client: TestClient, bearer: Bearer
) -> None:
    """A route without a rule is 404 even for an administrator."""
    application.add_api_route("/elsewhere", lambda: "secret")
    assert client.get("/elsewhere").status_code == 401
    assert client.get("/elsewhere", headers=bearer(ADMIN)).status_code == 404


def test_an_unknown_scope_grants_nothing() -> None:
    """A scope that a later release wrote to the database grants nothing here."""
    caller = Caller("key_1", "ci", frozenset({"root"}))
    assert not any(caller.may(scope) for scope in (READ, SCORE, WRITE, ADMIN))


def test_the_openapi_document_has_the_scope_of_every_operation(openapi_document: dict[str, Any]) -> None:
    """Each operation has its scope for both schemes and the refusals; health checks have neither."""
    assert set(openapi_document["components"]["securitySchemes"]) == {"key", "session"}
    for path, methods in openapi_document["paths"].items():
        for method, operation in methods.items():
            rule = rule_of(path)
            assert rule is not None
            needed = rule.scope(method.upper())
            assert operation["security"] == ([{"key": [needed]}, {"session": [needed]}] if needed else [])
            assert ({"401", "403", "421"} <= set(operation["responses"])) == (needed is not None)


def test_no_rule_is_hidden_by_an_earlier_one() -> None:
    """Each rule of the table is the first match of some path."""
    examples = [
        "/healthz",
        "/v1/keys",
        "/v1/models/web/rank",
        "/v1/interleavings/itl_1/lists",
        "/v1/models/web/export",
        "/v2",
        "/v1/jobs",
        "/metrics",
        "/docs",
        "/static/a.js",
        "/",
    ]
    assert [rule_of(path) for path in examples] == list(RULES)
