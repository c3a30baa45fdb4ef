"""Request ids and access log lines."""

import io
import json
import logging
import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.http.access_log import configure_logging
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded


@pytest.fixture
def log(client: TestClient) -> io.StringIO:
    """Everything that the running application logs after setup, one JSON object per line."""
    configure_logging("info", "json")
    stream = io.StringIO()
    handler = logging.getLogger().handlers[-1]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    return stream


def _lines(log: io.StringIO, event: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in lines if line["event"] == event]


def test_each_request_is_one_line_with_its_id(client: TestClient, log: io.StringIO) -> None:
    """Method, path, status and duration are logged once, under the request id of the response."""
    response = client.get("/v1/jobs/job_1")
    (line,) = _lines(log, "request")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/v1/jobs/job_1", 404)
    assert line["request_id"] == response.headers["x-request-id"]
    assert line["address"] == "testclient"
    assert isinstance(line["duration_ms"], float)


def test_the_status_is_a_number(client: TestClient, log: io.StringIO) -> None:
    """Lines for people have the number, even if the route uses the constants of `http`."""
    configure_logging("info", "console")
    handler = logging.getLogger().handlers[-1]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(log)
    assert client.post("/sign-out", follow_redirects=False).status_code == 303
    assert re.search(r"status\S*=\S*303\b", log.getvalue())
    assert "HTTPStatus" not in log.getvalue()


def test_a_callers_id_is_kept(client: TestClient) -> None:
    """One id follows a request through proxies."""
    response = client.get("/healthz", headers={"X-Request-ID": "edge-0815.a:b"})
    assert response.headers["x-request-id"] == "edge-0815.a:b"


@pytest.mark.parametrize("offered", ["", "a b", "x" * 129, "a\tb", "ü".encode()])
def test_an_odd_id_is_replaced(client: TestClient, offered: str | bytes) -> None:
    """An id that could break a log line, or has no bound on its length, is replaced."""
    response = client.get(
        "/healthz", headers=[(b"X-Request-ID", offered if isinstance(offered, bytes) else offered.encode())]
    )
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["x-request-id"])


def test_messages_of_a_request_have_its_id(client: TestClient, log: io.StringIO) -> None:
    """The warning about the missing broker has the id of the request that caused it."""
    response = client.post("/v1/datasets/synthetic", json={"queries": 1})
    (line,) = [line for line in map(json.loads, log.getvalue().splitlines()) if line["level"] == "warning"]
    assert line["request_id"] == response.headers["x-request-id"]


def test_an_unhandled_exception_is_logged_with_its_traceback(
    application: FastAPI, client: TestClient, log: io.StringIO
) -> None:
    """The exception that the answer does not describe is logged once."""

    def fail() -> None:
        raise RuntimeError("the disk is on fire")

    application.add_api_route("/v1/fail", fail)
    client.get("/v1/fail")
    (line,) = _lines(log, "unhandled exception")
    assert "RuntimeError: the disk is on fire" in str(line["exception"])
    assert _lines(log, "request")[0]["status"] == 500


def test_creating_the_application_creates_no_data_folder(tmp_path: Path) -> None:
    """A program that only inspects the application must not write to the disk."""
    create_app(ApiSettings(data_dir=tmp_path / "data"))
    assert not (tmp_path / "data").exists()
