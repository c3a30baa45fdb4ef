"""Long URLs, many headers and compressed bodies."""

import gzip

import pytest
from starlette.datastructures import Headers

from app.http.headers import MAX_HEADER_BYTES, MAX_HEADERS, MAX_TARGET_BYTES, _encoding_refusal
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
    """The answer is 431 for the number of headers, the length of one, and the length of all together."""
    answer = client.get("/v1/jobs", headers=headers)
    assert answer.status_code == 431
    assert answer.json()["type"] == "/problems/headers-too-large"


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/models/web/rank", "/v1/datasets", "/v1/uploads"])
@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, zstd"])
def test_a_compressed_body_is_refused(refusing_client: TestClient, path: str, encoding: str) -> None:
    """415 has the encoding; a parser would report invalid JSON, an upload would store compressed bytes."""
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    answer = refusing_client.post(path, content=gzip.compress(b"{}"), headers=headers)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
    assert answer.json()["type"] == "/problems/unsupported-media-type"
    assert "Content-Encoding" in answer.json()["detail"]


def test_several_headers_of_encodings_are_read_as_one_list() -> None:
    """Several headers of one name are one list (RFC 9110, section 5.3); the test client would join them."""
    encodings = [(b"content-encoding", b"identity"), (b"content-encoding", b"gzip")]
    refusal = _encoding_refusal(Headers(raw=[(b"content-length", b"2"), *encodings]))
    assert refusal is not None
    assert "identity, gzip" in refusal[1]


def test_an_encoding_without_effect_is_accepted(client: TestClient) -> None:
    """`identity` is no encoding, and a request without a body has nothing to decode."""
    assert client.post("/v1/jobs", json={}, headers={"Content-Encoding": "Identity"}).status_code == 422
    assert client.get("/v1/jobs", headers={"Content-Encoding": "gzip"}).status_code == 200


def test_fifty_headers_and_a_long_cookie_are_accepted(client: TestClient) -> None:
    """Real browsers send fewer headers."""
    headers = {f"x-{n}": "a" * 100 for n in range(50)} | {"cookie": "a=" + "b" * 4096}
    assert client.get("/v1/jobs", headers=headers).status_code == 200
