"""Addresses that users may make the service connect to, with real servers that must not be reached."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import structlog.testing

from core.errors import AddressRefused, InvalidInput
from core.outbound.clients import open_async_client, open_client
from core.outbound.guard import SsrfGuard, checked_url, system_resolve
from core.store import StoreSettings
from tests.core.outbound.servers import Resolver, Served, certificate_for, has_ipv6_loopback, serving
from tests.servers.process import reserved_port

# Spellings of hosts that the system's resolver accepts, with a word of the error.
LITERALS = [
    ("127.0.0.1", "loopback"),
    ("127.8.4.2", "loopback"),
    ("localhost", "loopback"),
    ("LOCALHOST", "loopback"),
    ("2130706433", "loopback"),
    ("0x7f000001", "loopback"),
    ("0x7f.1", "loopback"),
    ("127.1", "loopback"),
    ("0", "this network"),
    ("0.0.0.0", "this network"),
    ("10.1.2.3", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.1", "private"),
    ("100.64.0.1", "carrier"),
    ("169.254.1.1", "link-local"),
    ("169.254.169.254", "metadata"),
    ("0xa9fea9fe", "metadata"),
    ("100.100.100.200", "metadata"),
    ("168.63.129.16", "metadata"),
    ("192.0.0.192", "metadata"),
    ("192.0.2.7", "documentation"),
    ("198.18.0.1", "benchmarks"),
    ("198.51.100.7", "documentation"),
    ("203.0.113.7", "documentation"),
    ("192.88.99.1", "6to4"),
    ("224.0.0.1", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("[::]", "unspecified"),
    ("[::1]", "loopback"),
    ("[0:0:0:0:0:0:0:1]", "loopback"),
    ("[::ffff:127.0.0.1]", "loopback"),
    ("[::ffff:7f00:1]", "loopback"),
    ("[::ffff:169.254.169.254]", "metadata"),
    ("[::127.0.0.1]", "IPv4-compatible"),
    ("[64:ff9b::7f00:1]", "loopback"),
    ("[64:ff9b::a9fe:a9fe]", "metadata"),
    ("[64:ff9b:1::7f00:1]", "translation"),
    ("[2002:7f00:1::]", "6to4"),
    ("[2001:0:7f00:1::]", "Teredo"),
    ("[2001:db8::1]", "documentation"),
    ("[3fff::1]", "documentation"),
    ("[fc00::1]", "private"),
    ("[fd00:ec2::254]", "metadata"),
    ("[fe80::1]", "link-local"),
    ("[fec0::1]", "private"),
    ("[ff02::1]", "multicast"),
    ("[5f00::1]", "reserved"),
    ("[100::1]", "reserved"),
]
# Addresses of a name, with the reason of their refusal.
ANSWERS = [
    (["127.0.0.1"], "loopback"),
    (["10.0.0.8"], "private"),
    (["169.254.169.254"], "metadata"),
    (["::1"], "loopback"),
    (["::ffff:10.0.0.8"], "private"),
    (["fe80::1%lo"], "link-local"),
    (["93.184.216.34", "127.0.0.1"], "loopback"),  # one such address among several is enough
    (["2606:2800:220:1:248:1893:25c8:1946", "fd00::1"], "private"),
]
PUBLIC = ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]


@pytest.fixture
def local() -> Iterator[Served]:
    """A server on all addresses of this machine that no refused request may reach."""
    with serving("0.0.0.0") as served:
        yield served


def _get(
    guard: SsrfGuard, url: str, client_kind: str, *, follow_redirects: bool = False, **options: Any
) -> httpx.Response:
    """Request a URL by the client of downloads or by that of webhooks."""
    if client_kind == "sync":
        with open_client(guard, timeout=5, **options) as client:
            return client.get(url, follow_redirects=follow_redirects)

    async def get() -> httpx.Response:
        async with open_async_client(guard, timeout=5, **options) as client:
            return await client.get(url, follow_redirects=follow_redirects)

    return anyio.run(get)


@pytest.fixture(scope="module")
def guarded() -> Iterator[httpx.Client]:
    """A client of downloads, shared since each new one loads all certificates."""
    with open_client(SsrfGuard(), timeout=5) as client:
        yield client


# One host of each reason is enough for the second client, since both clients use the same guard.
ONE_OF_EACH = {reason: host for host, reason in LITERALS}.values()
BOTH_CLIENTS = pytest.mark.parametrize("client_kind", ["sync", "async"])


@pytest.mark.parametrize(
    ("host", "reason", "client_kind"),
    [
        *((host, reason, "sync") for host, reason in LITERALS),
        *(
            pytest.param(host, reason, "async", marks=() if host in ONE_OF_EACH else pytest.mark.slow)
            for host, reason in LITERALS
        ),
    ],
)
def test_addresses_that_are_not_public_are_refused(
    local: Served, guarded: httpx.Client, host: str, reason: str, client_kind: str
) -> None:
    """An address that is not routed globally is not connected to, whatever its spelling."""
    url = f"http://{host}:{local.port}/"
    with pytest.raises(AddressRefused, match=reason):
        guarded.get(url) if client_kind == "sync" else _get(SsrfGuard(), url, client_kind)
    assert local.connections == 0


@pytest.mark.parametrize("host", ["0177.0.0.1", "0x7f.0.0.1", "::ffff:7f00:1"])
def test_hosts_that_httpx_does_not_accept_are_refused_as_well(host: str) -> None:
    """The guard does not rely on the parser of the URL."""
    with pytest.raises(AddressRefused, match="loopback"):
        SsrfGuard().addresses_of(host, 80)


@BOTH_CLIENTS
@pytest.mark.parametrize(("addresses", "reason"), ANSWERS)
def test_names_with_an_address_that_is_not_public_are_refused(
    local: Served, addresses: list[str], reason: str, client_kind: str
) -> None:
    """One such address among several is enough for a refusal."""
    guard = SsrfGuard(resolve=Resolver({"hooks.example": [addresses]}))
    with pytest.raises(AddressRefused, match=rf"hooks.example is refused: .*{reason}"):
        _get(guard, f"http://hooks.example:{local.port}/", client_kind)
    assert local.connections == 0


def test_the_address_of_a_refused_name_is_only_logged() -> None:
    """The error does not expose names of the private network."""
    guard = SsrfGuard(resolve=Resolver({"hooks.example": [["10.1.2.3"]]}))
    with structlog.testing.capture_logs() as logged, pytest.raises(AddressRefused) as refused:
        guard.addresses_of("hooks.example", 443)
    assert "10.1.2.3" not in str(refused.value)
    (line,) = logged
    assert (line["host"], line["address"], line["log_level"]) == ("hooks.example", "10.1.2.3", "warning")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    """Addresses that the whole internet can reach are allowed, also as IPv6 translations of IPv4."""
    guard = SsrfGuard(resolve=Resolver({"hooks.example": [[address]]}))
    assert guard.addresses_of("hooks.example", 443) == [address]


@BOTH_CLIENTS
@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2:{port}/secret",
        "http://localhost.:{port}/secret",
        "http://[::ffff:127.0.0.2]:{port}/secret",
        "http://169.254.169.254/latest/meta-data/",
        "//2130706434:{port}/secret",
        "http://inside.example:{port}/secret",
    ],
)
def test_redirects_are_checked(local: Served, target: str, client_kind: str) -> None:
    """Each hop of a redirect is checked as the first one is."""
    local.redirects["/"] = target.format(port=local.port)

    def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2"] if host in ("inside.example", "localhost.") else system_resolve(host, port)

    guard = SsrfGuard(["127.0.0.1"], resolve)
    with pytest.raises(AddressRefused):
        _get(guard, f"http://127.0.0.1:{local.port}/", client_kind, follow_redirects=True)
    assert local.connections == 1
    assert _get(guard, f"http://127.0.0.1:{local.port}/", client_kind).status_code == 302


@BOTH_CLIENTS
def test_a_name_is_resolved_once_per_connection(client_kind: str) -> None:
    """DNS rebinding: the connection goes to the address that was checked, whatever the next answer is."""
    with serving("127.0.0.1") as checked, serving("127.0.0.2", checked.port) as rebound:
        resolver = Resolver({"hooks.example": [["127.0.0.1"], ["127.0.0.2"]]})
        guard = SsrfGuard(["127.0.0.1"], resolver)
        url = f"http://hooks.example:{checked.port}/"
        assert _get(guard, url, client_kind).text == "ok"
        assert checked.hosts == [f"hooks.example:{checked.port}"]
        with pytest.raises(AddressRefused) as refused:
            _get(guard, url, client_kind)
        assert refused.value.address == "127.0.0.2"
        assert resolver.hosts == ["hooks.example"] * 2
        assert rebound.connections == 0


@BOTH_CLIENTS
def test_a_second_address_is_tried(client_kind: str) -> None:
    """If one address of a host does not answer, the next one is connected to."""
    silent = "127.0.0.77"  # no process listens at this address
    with serving("127.0.0.2") as served:
        guard = SsrfGuard(["127.0.0.0/8"], Resolver({"hooks.example": [[silent, "127.0.0.2"]]}))
        assert _get(guard, f"http://hooks.example:{served.port}/", client_kind).text == "ok"


@BOTH_CLIENTS
def test_failed_connections_are_errors_of_httpx(client_kind: str) -> None:
    """Callers need to handle the errors of one library only."""
    guard = SsrfGuard(["127.0.0.1"])
    with reserved_port() as port, pytest.raises(httpx.ConnectError):
        _get(guard, f"http://127.0.0.1:{port}/", client_kind)
    with pytest.raises(httpx.ConnectError, match="no-such-host"):
        _get(guard, "http://no-such-host.invalid/", client_kind)
    for host in ("a..example", f"{'a' * 64}.example"):  # of a redirect, which `checked_url` does not see
        with pytest.raises(httpx.ConnectError, match=f"{host} is not a host name"):
            _get(guard, f"http://{host}/", client_kind)


@BOTH_CLIENTS
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_not_used(
    local: Served, monkeypatch: pytest.MonkeyPatch, variable: str, client_kind: str
) -> None:
    """A proxy would connect to addresses that the guard refuses."""
    monkeypatch.setenv(variable, f"http://127.0.0.1:{local.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(AddressRefused):
        _get(SsrfGuard(), "http://10.0.0.1/", client_kind)
    assert local.connections == 0


@BOTH_CLIENTS
def test_the_host_header_and_the_tls_name_are_those_of_the_url(tmp_path: Path, client_kind: str) -> None:
    """The certificate is verified against the name, not against the address connected to."""
    server, client = certificate_for("hooks.example", tmp_path)
    with serving("127.0.0.1", tls=server) as served:
        resolver = Resolver({name: [["127.0.0.1"]] for name in ("hooks.example", "other.example")})
        guard = SsrfGuard(["127.0.0.1"], resolver)
        url = f"https://hooks.example:{served.port}/"
        assert _get(guard, url, client_kind, verify=client).text == "ok"
        assert served.hosts == [f"hooks.example:{served.port}"]
        with pytest.raises(httpx.ConnectError, match="certificate"):
            _get(guard, f"https://other.example:{served.port}/", client_kind, verify=client)
        with pytest.raises(httpx.ConnectError, match="certificate"):
            _get(guard, url, client_kind, verify=ssl.create_default_context())


@BOTH_CLIENTS
@pytest.mark.parametrize("allowed", ["127.0.0.0/8", "127.0.0.1", "localhost", "LocalHost."])
def test_settings_allow_addresses(local: Served, allowed: str, client_kind: str) -> None:
    """A network, an address and a host name can be allowed."""
    assert _get(SsrfGuard([allowed]), f"http://localhost:{local.port}/", client_kind).text == "ok"
    with pytest.raises(AddressRefused):
        _get(SsrfGuard([allowed]), f"http://10.0.0.1:{local.port}/", client_kind)


@pytest.mark.skipif(not has_ipv6_loopback(), reason="no IPv6: enable it on the loopback interface")
@BOTH_CLIENTS
def test_ipv6_is_connected_to(client_kind: str) -> None:
    """Addresses of IPv6 are allowed and connected to as well."""
    with serving("::1") as served:
        assert _get(SsrfGuard(["[::1]"]), f"http://[::1]:{served.port}/", client_kind).text == "ok"


def test_metadata_is_allowed_by_its_own_address_alone() -> None:
    """Allowing a network that contains the address, or a name that resolves to it, is not enough."""
    resolver = Resolver({"inside.example": [["169.254.169.254"]]})
    for allowed in ("169.254.0.0/16", "inside.example", "0.0.0.0/0"):
        with pytest.raises(AddressRefused, match="metadata"):
            SsrfGuard([allowed], resolver).addresses_of("inside.example", 80)
    assert SsrfGuard(["169.254.169.254"], resolver).addresses_of("inside.example", 80)


@pytest.mark.parametrize(
    ("url", "detail"),
    [
        ("ftp://example.com/", "begins with https:// or http://"),
        ("file:///etc/passwd", "begins with"),
        ("https:///path", "names a host"),
        ("example.com", "begins with"),
        ("https://user:secret@example.com/", "user name or password"),
        ("https://example.com:99999/", "must be a URL"),
        ("https://exa mple.com/", "names a host"),
        ("https://example..com/", "1 to 63 characters"),
        (f"https://{'a' * 64}.com/", "1 to 63 characters"),
        ("https://example.com/" + "a" * 2_000, "at most 2,000 characters"),
    ],
)
def test_invalid_urls_are_refused(url: str, detail: str) -> None:
    """A URL has HTTP or HTTPS, a host, and no credentials, which would appear in logs."""
    with pytest.raises(InvalidInput, match=detail) as caught:
        checked_url(url, "/url")
    assert caught.value.problems[0].pointer == "/url"
    assert checked_url("https://example.com:8443/hook?a=1", "/url").port == 8443


def test_the_allow_list_is_parsed_from_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The allow-list is a list separated by commas, and a mistake in it is found at the start."""
    monkeypatch.setenv("RANKERY_OUTBOUND_ALLOWED", "10.0.0.0/8, hooks.internal,::1")
    assert StoreSettings().outbound_allowed == ["10.0.0.0/8", "hooks.internal", "::1"]
    monkeypatch.setenv("RANKERY_OUTBOUND_ALLOWED", "https://hooks.internal/")
    with pytest.raises(ValueError, match="must be networks, addresses or host names"):
        StoreSettings()
