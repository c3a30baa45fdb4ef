"""SSRF guard: allow or refuse connections by address.

The refused networks are those of the IANA special-purpose address registries of IPv4 and IPv6 (RFC 6890).
Addresses where cloud providers serve metadata and credentials are refused, too.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Collection, Iterable, Sequence

import httpx
import structlog

from core.errors import AddressRefused, InvalidInput

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED_IPV4 = tuple(
    (ipaddress.IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by the customers of a carrier (carrier-grade NAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
# All addresses outside global unicast are refused; for these, the rows only provide the reason.
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(
    (ipaddress.IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b:1::/48", "a local translation of IPv4"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

METADATA_ADDRESSES = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",  # AWS, Azure, Google Cloud, Oracle, OpenStack, DigitalOcean
            "169.254.169.253",  # the DNS of AWS
            "169.254.170.2",  # credentials of ECS tasks
            "169.254.170.23",  # credentials of EKS pods
            "fd00:ec2::254",  # AWS
            "fd00:ec2::23",  # credentials of EKS pods
            "fd20:ce::254",  # Google Cloud
            "100.100.100.200",  # Alibaba Cloud
            "168.63.129.16",  # Azure, inside its range of public addresses
            "192.0.0.192",  # Oracle Cloud
        ),
    )
)


def actual_address(address: IPAddress) -> IPAddress:
    """Return the IPv4 address in a mapped or translated (NAT64) IPv6 address, else the address itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def refusal_reason(address: IPAddress) -> str | None:
    """Return the reason to refuse an address, None for a globally routed one.

    Args:
        address: Result of `actual_address`.
    """
    if address in METADATA_ADDRESSES:
        return "the metadata service of a cloud provider"
    if isinstance(address, ipaddress.IPv4Address):
        return next((reason for network, reason in _REFUSED_IPV4 if address in network), None)
    default = None if address in _GLOBAL_IPV6 else "reserved"
    return next((reason for network, reason in _REFUSED_IPV6 if address in network), default)


_LOG = structlog.stdlib.get_logger("rankery.outbound")

Resolve = Callable[[str, int], Sequence[str]]
MAX_URL_LENGTH = 2_000
MAX_PORT = 65_535
_MAX_LABEL = 63  # of a name between two dots; the resolver raises no OSError for longer ones
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def checked_url(url: str, pointer: str, schemes: Collection[str] = ("https", "http")) -> httpx.URL:
    """Parse and validate a URL; the guard checks its address at the time of a request.

    Args:
        pointer: JSON pointer of the URL in the payload, for errors.
        schemes: Allowed schemes, in lower case.

    Raises:
        InvalidInput: The text is too long, or is not a URL with an allowed scheme, a valid host and a valid
            port. Or the URL has a user name or password.
    """
    if len(url) > MAX_URL_LENGTH:
        raise InvalidInput.at(pointer, f"must have at most {MAX_URL_LENGTH:,} characters")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidInput.at(pointer, f"must be a URL: {error}") from error
    if parsed.port is not None and not 0 < parsed.port <= MAX_PORT:
        raise InvalidInput.at(pointer, f"must be a URL whose port is between 1 and {MAX_PORT}")
    if parsed.scheme not in schemes or not _HOST.fullmatch(parsed.raw_host.decode("ascii")):
        prefixes = " or ".join(f"{scheme}://" for scheme in schemes)
        raise InvalidInput.at(pointer, f"must be a URL that begins with {prefixes} and names a host")
    if not all(0 < len(label) <= _MAX_LABEL for label in parsed.raw_host.removesuffix(b".").split(b".")):
        raise InvalidInput.at(pointer, f"must name a host whose parts have 1 to {_MAX_LABEL} characters")
    if parsed.userinfo:
        raise InvalidInput.at(pointer, "must not contain a user name or password")
    return parsed


def system_resolve(host: str, port: int) -> list[str]:
    """Return the distinct addresses of a host from the resolver of this machine.

    Raises:
        OSError: The host has no address, or the resolver does not answer.
        UnicodeError: A part of the host's name is empty or too long.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in addresses))


class SsrfGuard:
    """A guard that allows or refuses hosts by their addresses, at the time of each connection.

    A name is resolved once, all of its addresses are checked, and the connection goes to one of them. Odd
    spellings of an address, such as `0x7f.1` or `2130706433`, are parsed by the resolver.

    Args:
        allowed: Additional networks, addresses and host names. Metadata services of clouds are allowed only
            by their exact address, not by a network or a name.

    Raises:
        ValueError: An entry of `allowed` is neither a network nor a host name.
    """

    def __init__(self, allowed: Iterable[str] = (), resolve: Resolve = system_resolve) -> None:
        self._resolve = resolve
        self._networks: list[IPNetwork] = []
        self._hosts: set[str] = set()
        for entry in allowed:
            network = allowed_network(entry)
            if network is None:
                self._hosts.add(_host_name(entry))
            else:
                self._networks.append(network)

    def addresses_of(self, host: str, port: int) -> list[str]:
        """Resolve a host, and return its addresses if all of them are allowed.

        Raises:
            AddressRefused: An address is not allowed.
            OSError: The host has no address, or the resolver does not answer.
            UnicodeError: A part of the host's name is empty or too long.
        """
        addresses = list(self._resolve(host, port))
        if not addresses:
            raise OSError(f"{host} has no address")
        for text in addresses:
            address = actual_address(ipaddress.ip_address(text))
            reason = refusal_reason(address)
            if reason is not None and not self._is_allowed(host, address):
                _LOG.warning("outbound.refused", host=host, address=text, reason=reason)
                raise AddressRefused(host, text, reason)
        return addresses

    def _is_allowed(self, host: str, address: IPAddress) -> bool:
        if address in METADATA_ADDRESSES:
            return any(network.num_addresses == 1 and address in network for network in self._networks)
        return _host_name(host) in self._hosts or any(address in network for network in self._networks)


def allowed_network(entry: str) -> IPNetwork | None:
    """Return the network of an entry of the allow-list, None for a host name.

    Raises:
        ValueError: The entry is neither a network nor a host name.
    """
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass
    name = _host_name(entry)
    if not name or not all(
        part and part.replace("-", "").replace("_", "").isalnum() for part in name.split(".")
    ):
        raise ValueError(f"must be networks, addresses or host names; found {entry!r}")
    return None


def _host_name(host: str) -> str:
    return host.rstrip(".").lower()
