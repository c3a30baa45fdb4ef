"""SSRF guard: allow or refuse connections by address."""

import ipaddress
import re
import socket
from collections.abc import Callable, Collection, Iterable, Sequence

import httpx
import structlog

from core.errors import AddressRefused, InvalidInput
from core.outbound.networks import METADATA_ADDRESSES, IPAddress, IPNetwork, actual_address, refusal_reason

_LOG = structlog.stdlib.get_logger("rankery.outbound")

Resolve = Callable[[str, int], Sequence[str]]
MAX_URL_LENGTH = 2_000
MAX_PORT = 65_535
_MAX_LABEL = 63  # of a name between two dots; the resolver raises no OSError for longer ones
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def checked_url(url: str, pointer: str, schemes: Collection[str] = ("https", "http")) -> httpx.URL:
    """Parse and validate a URL; the guard checks its address at the time of a request.

    Args:
        url: The URL.
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
        resolve: Returns the addresses of a host.

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
