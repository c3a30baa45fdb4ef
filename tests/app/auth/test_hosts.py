"""Foreign Host headers are refused: DNS rebinding."""

import socket

import pytest
from starlette.datastructures import Headers

from app.auth.credentials import Hosts
from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

LOOPBACK = [
    "127.0.0.1",
    "127.0.0.1:8000",
    "localhost",
    "LocalHost:80",
    "localhost.",
    "[::1]:8000",
    "127.9.9.9",
]
ADDRESSES = ["192.0.2.7", "10.0.0.1:8000", "[2001:db8::1]:8000", "0.0.0.0:8000"]
FOREIGN = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:127",
    "user@127.0.0.1",
    "127.0.0.1/evil",
    "127.0.0.1:8000:1",
    "[::1",
    "0x7f000001",
    "",
    " ",
]


def names_service(host: str, *, by_address: bool = False, allowed: tuple[str, ...] = ()) -> bool:
    """Return whether a Host header names the service."""
    return Hosts(allowed).matches_host_header(Headers({"host": host}), by_address=by_address)


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_hosts_are_always_accepted(host: str) -> None:
    """Loopback names and addresses are accepted, with and without a port."""
    assert names_service(host)


@pytest.mark.parametrize("host", ADDRESSES)
def test_addresses_are_accepted_if_there_are_keys(host: str) -> None:
    """A DNS server cannot forge an address; a service without keys accepts only loopback."""
    assert names_service(host, by_address=True)
    assert not names_service(host)


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_are_refused(host: str) -> None:
    """Names that resemble an accepted name are refused."""
    assert not names_service(host, by_address=True, allowed=("rankery.example",))


def test_the_name_of_the_machine_and_allowed_names_are_accepted() -> None:
    """Case, port and a dot at the end of a name do not matter."""
    assert names_service(f"{socket.gethostname().upper()}:8000")
    assert names_service("Rankery.Example.:443", allowed=("rankery.example",))
    assert not names_service("www.rankery.example", allowed=("rankery.example",))


def test_a_request_needs_exactly_one_host_header() -> None:
    """A request without a Host header, or with two of them, is refused."""
    assert not Hosts(()).matches_host_header(Headers({}), by_address=True)
    two = Headers(raw=[(b"host", b"127.0.0.1"), (b"host", b"127.0.0.1")])
    assert not Hosts(()).matches_host_header(two, by_address=True)


def test_a_foreign_host_gets_421(client: TestClient) -> None:
    """Pages, API and files answer 421, whether they need a key or not."""
    for path in ("/", "/v1/jobs", "/sign-in", "/static/favicon.svg", "/nothing"):
        refused = client.get(path, headers={"Host": "evil.example"})
        assert refused.status_code == 421
        assert refused.json()["type"] == "/problems/foreign-host"
        assert "RANKERY_ALLOWED_HOSTS" in refused.json()["detail"]


def test_a_foreign_host_is_refused_despite_a_valid_key(client: TestClient, bearer: Bearer) -> None:
    """The Host header is checked before the key."""
    headers = {"Host": "evil.example", **bearer("admin")}
    assert client.get("/v1/jobs", headers=headers).status_code == 421
    assert client.get("/v1/jobs", headers={**headers, "Host": "192.0.2.7:8000"}).status_code == 200


def test_probes_may_use_any_name(client: TestClient) -> None:
    """An orchestrator may send any Host header to the probes."""
    assert client.get("/healthz", headers={"Host": "10-0-0-7.pod.example"}).status_code == 200
    assert client.get("/readyz", headers={"Host": "10-0-0-7.pod.example"}).status_code == 503
