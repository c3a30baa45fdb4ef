"""Compressed answers and their ETags."""

import gzip
from collections.abc import Callable

import pytest

from app.dashboard.assets import files_url
from app.http.compression import MIN_BYTES, accepts_gzip
from core.store import Model, Store
from tests.app.conftest import TestClient

GZIP, PLAIN = {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("deflate, gzip ; q=1.0, *;q=0", True),
        ("identity;q=0, *", True),
        ("", False),
        ("br", False),
        ("identity;q=0", False),
        ("gzip;q=0", False),
        ("gzip; Q=0.000, *", False),
        ("*;q=0", False),
    ],
)
def test_gzip_is_accepted_unless_its_weight_is_zero(header: str, accepted: bool) -> None:
    """The weight of `*` counts for a header without gzip."""
    assert accepts_gzip(header) == accepted


def test_a_client_that_refuses_gzip_gets_plain_answers(client: TestClient) -> None:
    """This holds for answers of the API and for scripts, which are compressed in advance."""
    for path in ("/v1/losses", f"{files_url()}/page/api.js"):
        answer = client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
        assert len(answer.content) > MIN_BYTES
        assert "content-encoding" not in answer.headers


@pytest.mark.long
@pytest.mark.parametrize("path", ["/openapi.json", "/v1/losses", "/v1/metrics", "/jobs"])
def test_large_answers_are_compressed(client: TestClient, path: str) -> None:
    """A client that accepts gzip gets the same content; `Vary` names the request header."""
    plain, packed = client.get(path, headers=PLAIN), client.get(path, headers=GZIP)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert "Accept-Encoding" in plain.headers["vary"]
    assert "Accept-Encoding" in packed.headers["vary"]


def test_small_answers_are_not_compressed(client: TestClient) -> None:
    """Compression would save hardly any bytes."""
    answer = client.get("/v1/jobs", headers=GZIP)
    assert len(answer.content) < MIN_BYTES
    assert "content-encoding" not in answer.headers


def test_a_compressed_answer_is_not_sent_again(client: TestClient) -> None:
    """The ETag is weak, because plain and compressed bytes share it."""
    plain, packed = client.get("/v1/losses", headers=PLAIN), client.get("/v1/losses", headers=GZIP)
    assert packed.headers["etag"] == plain.headers["etag"]
    assert packed.headers["etag"].startswith('W/"')
    for encoding in (GZIP, PLAIN):
        again = client.get("/v1/losses", headers={"If-None-Match": packed.headers["etag"], **encoding})
        assert (again.status_code, again.content) == (304, b"")


def test_a_compressed_file_has_a_weak_etag(client: TestClient) -> None:
    """The strong ETag identifies the plain bytes; both ETags are answered with 304."""
    path = "/static/views/train.js"
    plain, packed = client.get(path, headers=PLAIN), client.get(path, headers=GZIP)
    assert packed.headers["etag"] == f"W/{plain.headers['etag']}"
    for etag in (plain.headers["etag"], packed.headers["etag"]):
        assert client.get(path, headers={"If-None-Match": etag, **GZIP}).status_code == 304


def test_precompressed_files_are_not_compressed_again(client: TestClient) -> None:
    """Scripts are compressed once, in advance."""
    path = f"{files_url()}/page/api.js"
    answer = client.get(path, headers=GZIP)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.content == client.get(path, headers=PLAIN).content


def test_the_secret_of_a_key_is_not_compressed(client: TestClient) -> None:
    """The compressed size would reveal how much of the secret equals the name, which the caller chose."""
    body = {"name": "k" * 200, "scopes": ["admin"]}
    answer = client.post("/v1/keys", json=body, headers=GZIP)
    assert answer.status_code == 201
    assert "content-encoding" not in answer.headers


def test_exports_are_not_compressed(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Exports are large, and compressing them would delay scoring requests."""
    add_model("web")
    answer = client.get("/v1/models/web/export", params={"format": "python"}, headers=GZIP)
    assert answer.status_code == 200
    assert len(answer.content) > MIN_BYTES
    assert "content-encoding" not in answer.headers


def test_a_large_answer_is_compressed_whole(client: TestClient, store: Store) -> None:
    """The answer is complete if it is large enough to be compressed in a thread."""
    with store.begin() as tx:
        for number in range(100):
            tx.jobs.add("train", {"kind": "train", "model_name": f"m{number}", "padding": "x" * 1_000})
    raw = client.build_request("GET", "/v1/jobs?limit=100", headers=GZIP)
    answer = client.send(raw, stream=True)
    assert (
        gzip.decompress(b"".join(answer.iter_raw()))
        == client.get("/v1/jobs?limit=100", headers=PLAIN).content
    )
