"""Long addresses, many headers and compressed bodies."""

import gzip

import pytest

from app.http.header_limits import MAX_HEADER_BYTES, MAX_HEADERS, MAX_TARGET_BYTES
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded  # no test here depends on the store


@pytest.mark.parametrize("path", ["/v1/jobs/", "/v1/jobs?cursor=", "/healthz?"])
def test_a_url_beyond_the_limit_is_refused(client: TestClient, path: str) -> None:
    """A URL beyond 8 KiB gets 414, also for a health check."""
    answer = client.get(path + "a" * MAX_TARGET_BYTES)
    assert answer.status_code == 414
    assert answer.json()["type"] == "/problems/address-too-long"


def test_a_url_below_the_limit_is_accepted(client: TestClient) -> None:
    """A URL just below the limit is routed."""
    assert client.get("/v1/jobs/" + "a" * (MAX_TARGET_BYTES - len("/v1/jobs/"))).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {f"x-{n}": "1" for n in range(MAX_HEADERS)},
        {"x-long": "a" * MAX_HEADER_BYTES},
        {f"x-{n}": "a" * 400 for n in range(50)},
    ],
)
def test_too_many_or_too_long_headers_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    """Too many headers, a header that is too long, and too many bytes in all get 431."""
    answer = client.get("/v1/jobs", headers=headers)
    assert answer.status_code == 431
    assert answer.json()["type"] == "/problems/headers-too-large"


def test_fifty_headers_and_a_long_cookie_are_accepted(client: TestClient) -> None:
    """Real browsers send fewer headers."""
    headers = {f"x-{n}": "a" * 100 for n in range(50)} | {"cookie": "a=" + "b" * 4096}
    assert client.get("/v1/jobs", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/datasets", "/v1/models/web/rank", "/v1/uploads"])
def test_compressed_bodies_are_refused(client: TestClient, path: str) -> None:
    """Requests with a coding of the body get 415, with the header in the description and the accepted one."""
    body, headers = gzip.compress(b"{}"), {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 415
    assert "Content-Encoding: gzip" in answer.json()["detail"]
    assert answer.headers["accept-encoding"] == "identity"


def test_a_body_may_be_declared_as_plain(client: TestClient) -> None:
    """The coding `identity`, and a coding without a body, change nothing."""
    assert client.post("/v1/jobs", json={}, headers={"Content-Encoding": "identity"}).status_code == 422
    assert client.get("/v1/jobs", headers={"Content-Encoding": "gzip"}).status_code == 200
