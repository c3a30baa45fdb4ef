"""Log lines of requests, callers and jobs, without log injection."""

import io
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from app.auth.authenticator import Authenticator
from app.http.access_log import configure_logging
from app.http.services import registered
from core.logs import LogFormat
from core.store import Store
from tests.app.conftest import TestClient

FORGED = "2026-01-05T10:00:00.000000Z [info     ] request [rankery.access] status=200"

Log = Callable[[LogFormat], io.StringIO]


@pytest.fixture
def log(client: TestClient) -> Log:
    """Function that starts collecting the log lines of the application."""

    def start(log_format: LogFormat) -> io.StringIO:
        configure_logging("info", log_format)
        stream = io.StringIO()
        handler = logging.getLogger().handlers[-1]
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(stream)
        return stream

    return start


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_job_can_be_traced_to_its_request(client: TestClient, log: Log) -> None:
    """One line has the id of the job and the id of the request."""
    stream = log("json")
    response = client.post("/v1/datasets/synthetic", json={"queries": 1})
    (submitted,) = [line for line in _lines(stream) if line["event"] == "job.submitted"]
    assert submitted["job_id"] == response.json()["job_id"]
    assert submitted["kind"] == "ingest"
    assert submitted["request_id"] == response.headers["x-request-id"]


def test_lines_carry_the_callers_key(client: TestClient, store: Store, log: Log) -> None:
    """Lines have the id of the key, never its secret; a later request without a key has none."""
    with store.begin() as tx:
        key, secret = tx.api_keys.create("ci", ["write"])
    stream = log("json")
    registered(client.app, Authenticator).key_cache.invalidate_keys_exist()  # type: ignore[arg-type]
    allowed = {"authorization": f"Bearer {secret}"}
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=allowed).status_code == 202
    assert client.get("/v1/jobs").status_code == 401
    lines = _lines(stream)
    first, second = (line for line in lines if line["event"] == "request")
    submitted = next(line for line in lines if line["event"] == "job.submitted")
    assert first["key_id"] == submitted["key_id"] == key.id
    assert "key_id" not in second
    assert secret not in stream.getvalue()


@pytest.mark.parametrize("line_break", ["\n", "\r", "\x1b[1A", "\x85", "\u2028", "\x00"])
@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_path_forges_no_line(client: TestClient, log: Log, log_format: LogFormat, line_break: str) -> None:
    """The content of a percent-encoded path stays within the line of its request."""
    stream = log(log_format)
    client.get("/v1/jobs/" + "".join(f"%{byte:02X}" for byte in f"x{line_break}{FORGED}".encode()))
    (line,) = stream.getvalue().splitlines()
    assert line.isprintable()
    assert line.startswith("{" if log_format == "json" else "20")


@pytest.mark.parametrize("log_format", ["console", "json"])
@pytest.mark.parametrize("name", ["X-Request-ID", "User-Agent", "Host", "Content-Type", "Idempotency-Key"])
def test_a_header_forges_no_line(client: TestClient, log: Log, log_format: LogFormat, name: str) -> None:
    """The content of any header stays within the lines of its request."""
    stream = log(log_format)
    client.post("/v1/jobs", content=b"{}", headers=[(name.encode(), f"x\x85\x1b[1A{FORGED}".encode())])
    lines = stream.getvalue().splitlines()
    assert lines
    assert not [line for line in lines if line.startswith(FORGED)]
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_secret_in_a_path_is_left_out(client: TestClient, log: Log, log_format: LogFormat) -> None:
    """A secret in a path is replaced before it is logged."""
    stream = log(log_format)
    client.get("/v1/jobs/rk_" + "A" * 43)
    assert "rk_***" in stream.getvalue()
    assert "AAAA" not in stream.getvalue()
