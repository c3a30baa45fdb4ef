"""Addresses of clients, with a real server and several loopback addresses."""

import contextlib
import socket
from collections.abc import Iterator

import httpx
import pytest
import uvicorn
from pydantic import ValidationError

from app import ApiSettings
from app.http.caller import address_key
from core.store import Store
from tests.app.conftest import NO_BROKER
from tests.app.http.conftest import PATIENCE_SECONDS, eventually
from tests.servers.fixtures import StoreArguments

# The tests start a server and do not depend on the store.
pytestmark = [pytest.mark.embedded, pytest.mark.long]

PROXY, OTHER_PROXY, CLIENT, OTHER_CLIENT = "127.0.0.2", "127.0.1.7", "127.0.0.3", "127.0.0.4"
CONNECTIONS = 3
REFUSED_WITH_ANSWER = 8  # connections of one address beyond its limit that get a 429


@pytest.fixture
def settings(store_arguments: StoreArguments) -> ApiSettings:
    """Settings with two trusted proxies, one of them a network, few connections and few wrong keys."""
    return ApiSettings(
        **store_arguments,
        broker_url=NO_BROKER,
        trusted_proxies=f"{PROXY}, 127.0.1.0/24",
        wrong_keys_per_minute=3,
        max_connections_per_address=CONNECTIONS,
        head_seconds=PATIENCE_SECONDS,
    )


@pytest.fixture
def secret(server: uvicorn.Server, settings: ApiSettings) -> str:
    """Secret of an administrator's key."""
    store = Store.open(settings)
    with store.begin() as tx:
        _, secret = tx.api_keys.create("admin", ["admin"])
    store.close()
    return secret


def port_of(server: uvicorn.Server) -> int:
    """Return the port of a server."""
    return int(server.servers[0].sockets[0].getsockname()[1])


@contextlib.contextmanager
def client_at(server: uvicorn.Server, address: str, forwarded: str | None = None) -> Iterator[httpx.Client]:
    """Open a client with a source address and an X-Forwarded-For header."""
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port_of(server)}",
        transport=httpx.HTTPTransport(local_address=address),
        headers=headers,
        timeout=PATIENCE_SECONDS,
    ) as client:
        yield client


def try_key(server: uvicorn.Server, secret: str, address: str, forwarded: str | None = None) -> int:
    """Send one request with a key, and return the status."""
    with client_at(server, address, forwarded) as client:
        return client.get("/v1/jobs", headers={"Authorization": f"Bearer {secret}"}).status_code


def audited_address(server: uvicorn.Server, secret: str, address: str, forwarded: str | None = None) -> str:
    """Send a change that is refused, and return the address in the audit."""
    with client_at(server, address, forwarded) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        client.delete("/v1/datasets/ds_1")
        newest = client.get("/v1/audit", params={"limit": 1}).json()["items"][0]
    return str(newest["address"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (CLIENT, None, CLIENT),
        (CLIENT, "203.0.113.1", CLIENT),
        ("127.0.0.1", "203.0.113.1", "127.0.0.1"),
        (PROXY, None, PROXY),
        (PROXY, "203.0.113.1", "203.0.113.1"),
        (OTHER_PROXY, "203.0.113.1", "203.0.113.1"),
        (PROXY, "198.51.100.9, 203.0.113.1", "203.0.113.1"),
        (PROXY, f"198.51.100.9, 203.0.113.1, {OTHER_PROXY}", "203.0.113.1"),
        (PROXY, "2001:db8::1", "2001:db8::1"),
    ],
)
def test_only_a_trusted_proxy_forwards_addresses(
    server: uvicorn.Server, secret: str, peer: str, forwarded: str | None, address: str
) -> None:
    """The audit has the last address that is no trusted proxy, or the address of an untrusted peer."""
    assert audited_address(server, secret, peer, forwarded) == address


def test_forwarded_addresses_of_an_untrusted_peer_are_ignored(server: uvicorn.Server, secret: str) -> None:
    """Wrong keys with different forwarded addresses count for the peer, and block only that peer."""
    statuses = [try_key(server, "rk_wrong", CLIENT, f"203.0.113.{n}") for n in range(5)]
    assert statuses == [401, 401, 401, 429, 429]
    assert try_key(server, "rk_wrong", "127.0.0.5") == 401


def test_wrong_keys_behind_a_proxy_count_for_the_client(server: uvicorn.Server, secret: str) -> None:
    """Addresses that the client puts before its own do not matter."""
    statuses = [try_key(server, "rk_wrong", PROXY, f"198.51.100.{n}, 203.0.113.1") for n in range(5)]
    assert statuses == [401, 401, 401, 429, 429]
    assert try_key(server, "rk_wrong", PROXY, "203.0.113.2") == 401


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:c000:207", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::/64"),
        ("unknown:", "unknown:"),
    ],
)
def test_an_ipv4_address_is_one_client_however_it_is_written(address: str, expected: str) -> None:
    """Proxies that listen on IPv6 forward IPv4 addresses as ::ffff:…, all of one /64 network."""
    assert address_key(address) == expected


def test_networks_are_checked() -> None:
    """A value that is neither an address nor a network is refused at startup."""
    for wrong in ("*", "proxy.example", "10.0.0.1/8"):
        with pytest.raises(ValidationError):
            ApiSettings(trusted_proxies=wrong)


@contextlib.contextmanager
def idle_connections(server: uvicorn.Server, address: str, number: int) -> Iterator[list[socket.socket]]:
    """Hold idle connections open."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                socket.create_connection(
                    ("127.0.0.1", port_of(server)), PATIENCE_SECONDS, source_address=(address, 0)
                )
            )
            for _ in range(number)
        ]


def healthz(server: uvicorn.Server, address: str) -> int:
    """Request the health from an address."""
    with client_at(server, address) as client:
        return client.get("/healthz").status_code


def test_one_address_takes_no_connections_from_others(server: uvicorn.Server) -> None:
    """More connections of the address get 429 and are closed, until it has closed others."""
    held = server.server_state.connections
    with idle_connections(server, CLIENT, CONNECTIONS):
        eventually(lambda: len(held) == CONNECTIONS)
        with client_at(server, CLIENT) as client:
            refused = client.get("/healthz")
        assert refused.status_code == 429
        assert refused.json()["type"] == "/problems/too-many-requests"
        assert refused.headers["connection"] == "close"
        assert healthz(server, OTHER_CLIENT) == 200
    eventually(lambda: healthz(server, CLIENT) == 200)


def test_many_connections_of_one_address_are_closed(server: uvicorn.Server) -> None:
    """The server keeps no more than the limit and a few connections that get an answer."""
    held = server.server_state.connections
    with idle_connections(server, CLIENT, 60):
        eventually(lambda: len(held) == CONNECTIONS + REFUSED_WITH_ANSWER)
        assert all(healthz(server, OTHER_CLIENT) == 200 for _ in range(10))
    eventually(lambda: not held)
    assert healthz(server, CLIENT) == 200


def test_a_trusted_proxy_may_exceed_the_limit_of_connections(server: uvicorn.Server) -> None:
    """A trusted proxy forwards requests of many clients."""
    with idle_connections(server, PROXY, 60):
        eventually(lambda: len(server.server_state.connections) == 60)
        assert healthz(server, PROXY) == 200
