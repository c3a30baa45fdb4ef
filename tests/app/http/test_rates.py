"""Rate limits: how often a caller may ask."""

import itertools
import time
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.auth.rate_limit import READING, SCORING, WRITING, Buckets, RateLimit, purpose_of
from app.http.caller import Caller, caller_of, set_caller
from tests.app.conftest import Answer, TestClient

pytestmark = pytest.mark.embedded  # nothing of it depends on the store


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Few requests a second, of each kind another number."""
    rates = {"reads_per_second": 4.0, "writes_per_second": 2.0, "scores_per_second": 1.0}
    return settings.model_copy(update={**rates, "burst_seconds": 1.0})


def test_a_bucket_allows_a_burst_and_then_its_rate() -> None:
    """A full bucket of 3 gives 3 at once; then each token takes as long as the rate says."""
    buckets = Buckets(per_second=2, burst=3)
    assert [buckets.take("a", 100.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("a", 100.25) == 0.25
    assert buckets.take("a", 100.5) == 0.0
    assert buckets.take("a", 100.5) == 0.5


def test_a_refused_request_takes_no_token() -> None:
    """A client that keeps asking is let in as soon as one that waits."""
    buckets = Buckets(per_second=1, burst=1)
    assert buckets.take("a", 0.0) == 0.0
    assert all(buckets.take("a", 0.5) == 0.5 for _ in range(100))
    assert buckets.take("a", 1.0) == 0.0


def test_steady_polling_below_the_rate_is_never_refused() -> None:
    """200 a second for a minute pass a bound of 500, whatever came in one moment."""
    buckets = Buckets(per_second=500, burst=1000)
    assert not any(buckets.take("a", second / 200) for second in range(200 * 60))


def test_callers_have_buckets_of_their_own() -> None:
    """Nobody waits for what another one asked."""
    buckets = Buckets(per_second=1, burst=1)
    assert [buckets.take(name, 0.0) for name in "aabb"] == [0.0, 1.0, 0.0, 1.0]


def test_many_callers_take_bounded_memory() -> None:
    """The callers seen last are remembered; of the others nothing is kept."""
    buckets = Buckets(per_second=1, burst=1, max_callers=100)
    assert not any(buckets.take(f"10.0.{n >> 8}.{n & 255}", 0.0) for n in range(10_000))
    assert len(buckets._full_at) == 100
    assert buckets.take("10.0.39.15", 0.0) == 1.0  # the last one, number 9,999


@pytest.mark.parametrize(
    ("method", "path", "purpose"),
    [
        ("GET", "/v1/jobs", READING),
        ("HEAD", "/", READING),
        ("POST", "/v1/jobs", WRITING),
        ("DELETE", "/v1/datasets/ds_1", WRITING),
        ("POST", "/v1/models/web/rank", SCORING),
        ("GET", "/v1/models/web/rank", READING),
        ("POST", "/v1/jobs/rank", WRITING),
    ],
)
def test_requests_are_told_apart(method: str, path: str, purpose: str) -> None:
    """By what they do: reading, writing, scoring."""
    assert purpose_of(method, path) == purpose


def test_callers_are_told_apart() -> None:
    """By their key, else by their address; an IPv6 customer has 2^64 of them, which are one."""
    addresses = ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2:1", "2001:db8:0:1::1", "strange:name"]
    callers = [caller_of({"type": "http", "client": (address, 1)}) for address in addresses]
    assert len(set(callers)) == 5
    assert callers[2] == callers[3]
    keyed = {"type": "http", "client": ("10.0.0.1", 1)}
    set_caller(keyed, Caller("key_1", "ci", frozenset({"read"})))
    assert caller_of(keyed) == "key_1"


def _statuses(client: TestClient, method: str, path: str, times: int) -> list[int]:
    return [client.request(method, path).status_code for _ in range(times)]


def _until_refused(client: TestClient, method: str, path: str) -> tuple[int, Answer]:
    """Ask until it is too often, which on a slow machine may take longer; returns how often it was not."""
    for answered in range(1000):
        answer = client.request(method, path)
        if answer.status_code == 429:
            return answered, answer
    raise AssertionError(f"{method} {path} was never refused")


def test_each_kind_of_request_has_its_bound(client: TestClient) -> None:
    """Beyond it comes 429 with the time to wait; the other kinds are not touched."""
    assert _until_refused(client, "POST", "/v1/models/none/rank")[0] >= 1
    assert 429 not in _statuses(client, "POST", "/v1/jobs/none/cancel", 2)
    answered, refused = _until_refused(client, "GET", "/v1/jobs")
    assert answered >= 4
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json() == {
        "type": "/problems/too-many-requests",
        "title": "Too many requests",
        "status": 429,
        "detail": "you may read 4 times a second; try again in 1 s",
    }


@pytest.mark.long
def test_whoever_waits_as_told_is_let_in(client: TestClient) -> None:
    """`Retry-After` is long enough."""
    refused = next(r for r in iter(lambda: client.get("/v1/jobs"), None) if r.status_code == 429)
    time.sleep(int(refused.headers["retry-after"]))
    assert client.get("/v1/jobs").status_code == 200


def test_probes_are_never_refused(client: TestClient) -> None:
    """A process that is asked too often whether it lives is not dead."""
    assert set(_statuses(client, "GET", "/healthz", 20)) == {200}


@pytest.fixture
def unbounded(settings: ApiSettings) -> Iterator[TestClient]:
    """A client of an application whose reads are not bounded."""
    application: FastAPI = create_app(settings.model_copy(update={"reads_per_second": 0.0}))
    with TestClient(application, base_url="http://127.0.0.1") as client:
        yield client


def test_zero_is_no_bound(unbounded: TestClient) -> None:
    """A bound of 0 requests a second would be of no use, so it means none."""
    assert 429 not in _statuses(unbounded, "GET", "/v1/jobs", 40)


def test_defaults_allow_a_burst_of_polling(settings: ApiSettings) -> None:
    """What a busy dashboard and several clients ask of one address passes."""
    limit = RateLimit(create_app(settings), ApiSettings(data_dir=settings.data_dir))
    reads = limit._buckets[READING]
    times = itertools.chain([0.0] * 900, (request / 400 for request in range(4000)))
    assert not any(reads.take("a", now) for now in times)
