"""Rate limits of callers."""

import itertools
import time
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.auth.rate_limit import READING, SCORING, WRITING, RateLimit, TokenBuckets, purpose_of
from app.http.caller import Caller, rate_limit_key, set_caller
from tests.app.conftest import Answer, TestClient

pytestmark = pytest.mark.embedded  # no test here depends on the store


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings with few requests a second, and a different rate for each purpose."""
    rates = {"reads_per_second": 4.0, "writes_per_second": 2.0, "scores_per_second": 1.0}
    return settings.model_copy(update={**rates, "burst_seconds": 1.0})


def test_a_bucket_allows_a_burst_and_then_its_rate() -> None:
    """A full bucket of 3 allows 3 requests immediately; then the rate determines the delay."""
    buckets = TokenBuckets(per_second=2, burst=3)
    assert [buckets.take("a", 100.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("a", 100.25) == 0.25
    assert buckets.take("a", 100.5) == 0.0
    assert buckets.take("a", 100.5) == 0.5


def test_a_refused_request_takes_no_token() -> None:
    """Refused requests do not delay the next allowed one."""
    buckets = TokenBuckets(per_second=1, burst=1)
    assert buckets.take("a", 0.0) == 0.0
    assert all(buckets.take("a", 0.5) == 0.5 for _ in range(100))
    assert buckets.take("a", 1.0) == 0.0


def test_steady_polling_below_the_rate_is_never_refused() -> None:
    """200 requests a second for a minute pass a limit of 500."""
    buckets = TokenBuckets(per_second=500, burst=1000)
    assert not any(buckets.take("a", second / 200) for second in range(200 * 60))


def test_each_caller_has_a_separate_bucket() -> None:
    """Requests of one caller do not use up the tokens of another."""
    buckets = TokenBuckets(per_second=1, burst=1)
    assert [buckets.take(name, 0.0) for name in "aabb"] == [0.0, 1.0, 0.0, 1.0]


def test_many_callers_take_bounded_memory() -> None:
    """Only the callers seen last are remembered."""
    buckets = TokenBuckets(per_second=1, burst=1, max_callers=100)
    assert not any(buckets.take(f"10.0.{n >> 8}.{n & 255}", 0.0) for n in range(10_000))
    assert len(buckets._full_at) == 100
    assert buckets.take("10.0.39.15", 0.0) == 1.0  # the last caller, number 9,999


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
def test_requests_have_a_purpose(method: str, path: str, purpose: str) -> None:
    """The purpose is reading, writing or scoring."""
    assert purpose_of(method, path) == purpose


def test_callers_are_identified_by_key_or_address() -> None:
    """An IPv6 network of 2^64 addresses is one caller."""
    addresses = ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2:1", "2001:db8:0:1::1", "strange:name"]
    callers = [rate_limit_key({"type": "http", "client": (address, 1)}) for address in addresses]
    assert len(set(callers)) == 5
    assert callers[2] == callers[3]
    keyed = {"type": "http", "client": ("10.0.0.1", 1)}
    set_caller(keyed, Caller("key_1", "ci", frozenset({"read"})))
    assert rate_limit_key(keyed) == "key_1"


def _statuses(client: TestClient, method: str, path: str, times: int) -> list[int]:
    return [client.request(method, path).status_code for _ in range(times)]


def _until_refused(client: TestClient, method: str, path: str) -> tuple[int, Answer]:
    """Repeat a request until it is refused; return the number of earlier answers, and the refusal."""
    for answered in range(1000):
        answer = client.request(method, path)
        if answer.status_code == 429:
            return answered, answer
    raise AssertionError(f"{method} {path} was never refused")


def test_each_kind_of_request_has_its_bound(client: TestClient) -> None:
    """429 has the time to wait; requests of other purposes are not affected."""
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
def test_a_client_is_served_after_the_delay(client: TestClient) -> None:
    """The time in `Retry-After` is long enough."""
    refused = next(r for r in iter(lambda: client.get("/v1/jobs"), None) if r.status_code == 429)
    time.sleep(int(refused.headers["retry-after"]))
    assert client.get("/v1/jobs").status_code == 200


def test_probes_are_never_refused(client: TestClient) -> None:
    """Health probes have no rate limit."""
    assert set(_statuses(client, "GET", "/healthz", 20)) == {200}


@pytest.fixture
def unbounded(settings: ApiSettings) -> Iterator[TestClient]:
    """A client of an application without a limit of reads."""
    application: FastAPI = create_app(settings.model_copy(update={"reads_per_second": 0.0}))
    with TestClient(application, base_url="http://127.0.0.1") as client:
        yield client


def test_a_rate_of_zero_turns_the_limit_off(unbounded: TestClient) -> None:
    """Forty reads in a row are served."""
    assert 429 not in _statuses(unbounded, "GET", "/v1/jobs", 40)


def test_defaults_allow_a_burst_of_polling(settings: ApiSettings) -> None:
    """The polling of a busy dashboard and several clients at one address is allowed."""
    limit = RateLimit(create_app(settings), ApiSettings(data_dir=settings.data_dir))
    reads = limit._buckets[READING]
    times = itertools.chain([0.0] * 900, (request / 400 for request in range(4000)))
    assert not any(reads.take("a", now) for now in times)
