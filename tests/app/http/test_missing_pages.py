"""Unknown URLs: a page for browsers, a problem for programs."""

from pathlib import Path

import pytest
from fastapi import FastAPI

from app.guide import mount_guide
from core.store import Store
from tests.app.conftest import TestClient

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
UNKNOWN = ["/nowhere", "/jobs/", "/models/a/b", "/static/nothing.js"]


@pytest.mark.parametrize("path", [*UNKNOWN, "/guide/nothing/"])
def test_a_browser_gets_a_page(client: TestClient, path: str) -> None:
    """The page links to the overview."""
    answer = client.get(path, headers=HTML)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>Page not found</h1>" in answer.text
    assert 'href="/">Overview' in answer.text
    assert client.head(path, headers=HTML).status_code == 404


@pytest.mark.parametrize("path", UNKNOWN)
def test_a_program_gets_a_problem(client: TestClient, path: str) -> None:
    """Unknown paths of the API are never answered with a page."""
    assert client.get(path).headers["content-type"] == "application/problem+json"
    assert client.get("/v1/nothing", headers=HTML).headers["content-type"] == "application/problem+json"
    assert client.post(path, headers=HTML).headers["content-type"] == "application/problem+json"


def test_callers_without_a_key_must_sign_in_first(client: TestClient, store: Store) -> None:
    """Without a key, an unknown URL redirects to the sign-in page."""
    with store.begin() as tx:
        _, secret = tx.api_keys.create("reader", ["read"])
    assert client.get("/nowhere", headers=HTML, follow_redirects=False).status_code == 303
    answer = client.get("/nowhere", headers={**HTML, "Authorization": f"Bearer {secret}"})
    assert "Page not found" in answer.text


def test_the_page_shows_the_reason(client: TestClient, application: FastAPI, tmp_path: Path) -> None:
    """The page contains the detail of a problem as a sentence, such as how to build the guide."""
    others = [route for route in application.routes if getattr(route, "path", "") != "/guide"]
    application.router.routes[:] = others
    mount_guide(application, tmp_path)
    assert "The guide is not built yet: run make guide, or" in client.get("/guide/", headers=HTML).text
