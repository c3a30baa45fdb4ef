"""The guide as the service serves it."""

import json
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from app.guide import mount_guide
from app.http import problems


def client_of(site: Path) -> TestClient:
    """Return a client of an application that serves only this guide."""
    application = FastAPI()
    problems.install(application)
    mount_guide(application, site)
    return TestClient(application)


def test_the_built_guide_is_shown(tmp_path: Path) -> None:
    """Pages are folders and are revalidated by browsers; an unknown page is the guide's 404 page."""
    (tmp_path / "concepts").mkdir()
    (tmp_path / "index.html").write_text("first")
    (tmp_path / "404.html").write_text("nowhere")
    (tmp_path / "concepts" / "index.html").write_text("concepts")
    client = client_of(tmp_path)
    first = client.get("/guide")
    assert (first.url.path, first.text, first.headers["cache-control"]) == ("/guide/", "first", "no-cache")
    assert client.get("/guide/concepts/").text == "concepts"
    missing = client.get("/guide/nothing/")
    assert (missing.status_code, missing.text) == (404, "nowhere")


def test_a_missing_guide_names_the_command_to_build_it(tmp_path: Path) -> None:
    """Without a built guide, the answer is a problem that names the command."""
    answer = client_of(tmp_path / "nothing").get("/guide/quick-start/")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "make guide" in answer.json()["detail"]


def test_headings_are_listed_for_the_search_of_the_dashboard(tmp_path: Path) -> None:
    """Pages are listed before headings; the reference has pages only, and a missing guide has no entries."""
    client = client_of(tmp_path)
    assert client.get("/guide/headings.json").json() == []
    index = tmp_path / "search" / "search_index.json"
    index.parent.mkdir()
    titles = {
        "how-to/clicks/": "Learn from clicks",
        "how-to/clicks/#a": "<code>ips</code> &amp; more",
        "reference/http/": "HTTP",
        "reference/http/#b": "Fields",
    }
    docs = [{"location": path, "title": title, "text": ""} for path, title in titles.items()]
    index.write_text(json.dumps({"docs": docs}))
    assert client.get("/guide/headings.json").json() == [
        {"path": "how-to/clicks/", "title": "Learn from clicks", "page": ""},
        {"path": "reference/http/", "title": "HTTP", "page": ""},
        {"path": "how-to/clicks/#a", "title": "ips & more", "page": "Learn from clicks"},
    ]
