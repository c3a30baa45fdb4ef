"""The client address of a request, for rate limits, wrong keys, the audit and access logs."""

import ipaddress
from collections.abc import Sequence

from starlette.types import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_RECORDED_LENGTH = 255
_IPV6_PREFIX = 64  # prefix length of the network of one customer


def address_of(scope: Scope) -> str | None:
    """Return the client address of a request, or None.

    This is the address of the peer, or for a trusted proxy the last address in `X-Forwarded-For` that is not
    trusted. The server writes it into the scope, see `app.http.connections.server_options`.
    """
    client = scope.get("client")
    return str(client[0]) if client else None


def recorded_address(scope: Scope) -> str | None:
    """Return the client address of a request, cut to the length of the audit log's column, or None."""
    address = address_of(scope)
    return address and address[:_MAX_RECORDED_LENGTH]


def address_key(address: str) -> str:
    """Return the rate-limit key of an address: the address, or its /64 network for IPv6.

    An IPv4 address that is mapped to IPv6 is that IPv4 address: all of them are in one /64 network.
    """
    if ":" not in address:
        return address
    try:
        mapped = ipaddress.IPv6Address(address).ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    except ValueError:
        return address


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an address belongs to one of the networks."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
