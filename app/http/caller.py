"""The caller of a request: its scopes, its rate-limit key and its address."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

import structlog
from fastapi import Depends, Request
from starlette.types import Scope

from core.store import ApiKey

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_RECORDED_LENGTH = 255
_IPV6_PREFIX = 64  # prefix length of the network of one customer


def address_of(scope: Scope) -> str | None:
    """Return the client address of a request, or None.

    The client address is that of the peer, or for a trusted proxy the last address in `X-Forwarded-For` that
    is not trusted. The server writes it into the scope, see `app.http.connections.server_options`.
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


READ, SCORE, WRITE, ADMIN = "read", "score", "write", "admin"

# The scopes that each scope includes.
GRANTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        READ: frozenset({READ}),
        SCORE: frozenset({SCORE}),
        WRITE: frozenset({READ, WRITE}),
        ADMIN: frozenset({READ, SCORE, WRITE, ADMIN}),
    }
)


@dataclass(frozen=True)
class Caller:
    """The caller of a request.

    Attributes:
        key_id: API key, None without authentication.
        session_sha256: Hash of the session's token where a browser has signed in, else None.
        projects: The projects that the key is bound to, None for all.
    """

    key_id: str | None
    name: str | None
    scopes: frozenset[str]
    session_sha256: str | None = None
    projects: tuple[str, ...] | None = None

    @classmethod
    def of(cls, key: ApiKey, session_sha256: str | None = None) -> "Caller":
        """Return the caller of an API key, or of a browser session of the key."""
        projects = None if key.projects is None else tuple(key.projects)
        return cls(key.id, key.name, frozenset(key.scopes), session_sha256, projects)

    def may(self, scope: str) -> bool:
        """Return whether the caller's scopes grant a scope."""
        return any(scope in GRANTS.get(held, ()) for held in self.scopes)


# The caller on this machine while no API key exists.
OWNER = Caller(None, None, frozenset({ADMIN}))
# The caller of a public path.
ANONYMOUS = Caller(None, None, frozenset())


def set_caller(scope: Scope, caller: Caller) -> None:
    """Set the caller of a request as `request.state.key` and in its log lines."""
    scope.setdefault("state", {})["key"] = caller
    if caller.key_id is not None:
        structlog.contextvars.bind_contextvars(key_id=caller.key_id)


def caller_in(scope: Scope) -> Caller:
    """Return the caller of a request; `ANONYMOUS` before authentication."""
    caller: Caller = scope.get("state", {}).get("key", ANONYMOUS)
    return caller


def _caller(request: Request) -> Caller:
    return caller_in(request.scope)


UseCaller = Annotated[Caller, Depends(_caller)]


def rate_limit_key(scope: Scope) -> str:
    """Return the rate-limit key of a caller: its API key, else its address or /64 network."""
    return caller_in(scope).key_id or address_key(address_of(scope) or "unknown")
