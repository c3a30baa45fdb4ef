"""A service without keys serves only this machine."""

import pytest
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.auth.authenticator import UnprotectedNetwork
from core.store import Store
from rankery.loopback import is_loopback
from tests.app.auth.conftest import Secrets
from tests.app.conftest import TestClient


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.0.7", False),
        ("::ffff:192.168.0.7", False),
        ("rankery.example", False),
        ("127.0.0.1.evil.example", False),
    ],
)
def test_loopback_is_identified_by_name_and_address(host: str, expected: bool) -> None:
    """Any other name may resolve to another machine."""
    assert is_loopback(host) == expected


def test_the_service_does_not_start_on_the_network_without_a_key(settings: ApiSettings) -> None:
    """The application refuses to start without a key, and starts with one."""
    exposed = settings.model_copy(update={"host": "0.0.0.0"})
    with (
        pytest.raises(UnprotectedNetwork, match="rankery keys create NAME --scope admin"),
        TestClient(create_app(exposed)),
    ):
        pass
    store = Store.open(settings)
    with store.begin() as tx:
        tx.api_keys.create("first", ["admin"])
    store.close()
    with TestClient(create_app(exposed), base_url="http://192.0.2.7") as client:
        assert client.get("/v1/jobs").status_code == 401


def test_without_keys_only_connections_by_loopback_are_accepted(
    application: FastAPI, client: TestClient
) -> None:
    """The address that accepted the connection decides, whatever the Host header names."""
    outside = TestClient(application, base_url="http://192.0.2.7")
    refused = outside.get("/v1/jobs", headers={"Host": "127.0.0.1"})
    assert refused.status_code == 401
    assert "rankery keys create" in refused.json()["detail"]
    assert client.get("/v1/jobs").status_code == 200


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [("127.0.0.1", 200), ("::1", 200), ("192.0.2.7", 401), ("192.0.2.7, 127.0.0.1", 401), ("unknown", 401)],
)
def test_without_keys_a_local_proxy_may_forward_only_loopback_addresses(
    client: TestClient, forwarded: str, expected: int
) -> None:
    """A forwarded request needs no key only if every forwarded address is loopback."""
    assert client.get("/v1/jobs", headers={"X-Forwarded-For": forwarded}).status_code == expected


def test_with_keys_the_address_of_a_connection_does_not_matter(
    application: FastAPI, client: TestClient, secrets: Secrets
) -> None:
    """The key alone decides."""
    outside = TestClient(application, base_url="http://192.0.2.7")
    headers = {"Authorization": f"Bearer {secrets['read']}"}
    assert outside.get("/v1/jobs", headers=headers).status_code == 200
