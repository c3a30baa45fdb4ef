"""The service below a path of its host, with proxies that keep the path and with those that remove it."""

import re

import pytest
from fastapi import FastAPI
from pydantic import ValidationError

from app import ApiSettings
from core.store import Store
from tests.app.conftest import NO_BROKER, TestClient
from tests.servers.fixtures import StoreArguments

ROOT = "/tools/rankery"
HTML = {"Accept": "text/html"}


@pytest.fixture
def settings(store_arguments: StoreArguments) -> ApiSettings:
    """Settings with a root path of two parts and a trailing slash, which is ignored."""
    return ApiSettings(**store_arguments, broker_url=NO_BROKER, root_path=f"{ROOT}/")


@pytest.fixture
def secret(store: Store) -> str:
    """Secret of an administrator's key."""
    with store.begin() as tx:
        return tx.api_keys.create("admin", ["admin"])[1]


@pytest.mark.parametrize("below", [ROOT, ""])
def test_requests_are_served_with_the_path_and_without(client: TestClient, below: str) -> None:
    """A proxy may remove the root path, and a probe uses no proxy."""
    assert client.get(f"{below}/healthz").json() == {"status": "ok"}
    assert client.get(f"{below}/v1/jobs").json()["items"] == []
    assert client.get(f"{below}/v1/jobs/job_1").json()["type"] == "/problems/not-found"
    assert client.get(f"{below}/").status_code == 200


def test_the_path_alone_is_the_first_page(client: TestClient) -> None:
    """The trailing slash is optional; a path that only begins with the same characters is 404."""
    assert client.get(ROOT).text == client.get(f"{ROOT}/").text
    assert client.get(f"{ROOT}2/v1/jobs").status_code == 404


def test_created_objects_are_at_their_location(client: TestClient) -> None:
    """The header `Location` has the root path, also for a repeated request."""
    body = {"name": "made", "queries": 3}
    for _ in range(2):
        created = client.post(f"{ROOT}/v1/datasets/synthetic", json=body, headers={"Idempotency-Key": "once"})
        location = created.headers["location"]
        assert location.startswith(f"{ROOT}/v1/")
        assert client.get(location).status_code == 200


def test_signing_in_stays_below_the_path(client: TestClient, secret: str) -> None:
    """Redirects and the cookie have the root path; `next` has none."""
    redirect = client.get(f"{ROOT}/jobs?kind=train", headers=HTML, follow_redirects=False)
    assert redirect.headers["location"] == f"{ROOT}/sign-in?next=%2Fjobs%3Fkind%3Dtrain"
    form = {"key": secret, "next": "/jobs?kind=train"}
    signed_in = client.post(f"{ROOT}/sign-in", data=form, follow_redirects=False)
    assert signed_in.headers["location"] == f"{ROOT}/jobs?kind=train"
    assert f"; path={ROOT};" in signed_in.headers["set-cookie"].lower()
    assert client.get(f"{ROOT}/v1/jobs").status_code == 200
    own = {"Origin": "http://127.0.0.1"}
    signed_out = client.post(f"{ROOT}/sign-out", headers=own, follow_redirects=False)
    assert signed_out.headers["location"] == f"{ROOT}/sign-in"
    assert client.get(f"{ROOT}/v1/jobs").status_code == 401


def test_scopes_and_the_audit_use_paths_without_the_root(
    client: TestClient, secret: str, store: Store
) -> None:
    """Rules apply to the path without the root path."""
    with store.begin() as tx:
        reader = tx.api_keys.create("reader", ["read"])[1]
    refused = client.delete(f"{ROOT}/v1/datasets/ds%31", headers={"Authorization": f"Bearer {reader}"})
    assert refused.status_code == 403
    assert client.get(f"{ROOT}/v1/audit", headers={"Authorization": f"Bearer {reader}"}).status_code == 403
    audit = client.get(f"{ROOT}/v1/audit", headers={"Authorization": f"Bearer {secret}"}).json()["items"]
    assert [entry["path"] for entry in audit] == ["/v1/datasets/ds%31"]


def test_an_encoded_root_path_is_removed(client: TestClient, secret: str) -> None:
    """Servers decode a path before they match it."""
    client.delete("/tools/%72ankery/v1/datasets/ds 1", headers={"Authorization": f"Bearer {secret}"})
    audit = client.get("/v1/audit", headers={"Authorization": f"Bearer {secret}"}).json()["items"]
    assert [(entry["path"], entry["status"]) for entry in audit] == [("/v1/datasets/ds%201", 404)]


@pytest.mark.long
def test_the_openapi_document_names_the_path(client: TestClient) -> None:
    """Generated clients and the documentation page use this server URL."""
    assert client.get(f"{ROOT}/openapi.json").json()["servers"] == [{"url": ROOT}]


def test_redirects_within_the_guide_stay_below_the_path(client: TestClient, built_guide: object) -> None:
    """A folder of the guide without a trailing slash redirects to the URL with it."""
    for path, target in (("/guide", "/guide/"), ("/guide/concepts", "/guide/concepts/")):
        answer = client.get(ROOT + path, follow_redirects=False)
        assert answer.status_code == 307
        assert answer.headers["location"].removeprefix("http://127.0.0.1") == ROOT + target


def test_the_guide_links_to_the_dashboard(client: TestClient, built_guide: object) -> None:
    """Links within the guide are relative."""
    text = client.get(f"{ROOT}/guide/").text
    assert f'href="{ROOT}/"' in text
    assert re.findall(r'(?:href|src)="/(?!tools/rankery/)', text) == []


@pytest.mark.parametrize(
    "wrong", ["rankery", "/ran kery", "//host", "/a//b", "/..", "/v1", "/jobs/x", "/%72", "/ä"]
)
def test_an_invalid_or_used_root_path_is_refused(wrong: str) -> None:
    """The error at startup names the setting."""
    with pytest.raises(ValidationError, match="root_path"):
        ApiSettings(root_path=wrong)


def test_no_root_path_hides_a_route(application: FastAPI) -> None:
    """The first part of every route's path is refused as a root path."""
    parts = {route.path.split("/")[1] for route in application.routes if hasattr(route, "path")} - {""}
    for part in parts:
        with pytest.raises(ValidationError, match="a path of the service"):
            ApiSettings(root_path=f"/{part}")


@pytest.mark.parametrize("page", ["/", "/jobs", "/train", "/docs", "/sign-in"])
def test_pages_link_only_below_the_path(client: TestClient, secret: str, page: str) -> None:
    """Every link, form and file of a page is below the root path and exists."""
    client.headers["Authorization"] = f"Bearer {secret}"
    text = client.get(ROOT + page).text
    named = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
    assert named
    assert [url for url in named if not url.startswith(f"{ROOT}/")] == []
    assert [url for url in named if client.get(url).status_code not in {200, 405}] == []
    assert f'data-root="{ROOT}"' in text
