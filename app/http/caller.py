"""The caller of a request, its scopes, and its rate-limit key."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

import structlog
from fastapi import Depends, Request
from starlette.types import Scope as AsgiScope

from app.http.addresses import address_key, address_of
from core.store import ApiKey

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
        name: Display name.
        scopes: Scopes of the key.
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


def set_caller(scope: AsgiScope, caller: Caller) -> None:
    """Set the caller of a request as `request.state.key` and in its log lines."""
    scope.setdefault("state", {})["key"] = caller
    if caller.key_id is not None:
        structlog.contextvars.bind_contextvars(key_id=caller.key_id)


def caller_in(scope: AsgiScope) -> Caller:
    """Return the caller of a request; `ANONYMOUS` before authentication."""
    caller: Caller = scope.get("state", {}).get("key", ANONYMOUS)
    return caller


def _caller(request: Request) -> Caller:
    return caller_in(request.scope)


UseCaller = Annotated[Caller, Depends(_caller)]


def rate_limit_key(scope: AsgiScope) -> str:
    """Return the rate-limit key of a caller: its API key, else its address or /64 network."""
    return caller_in(scope).key_id or address_key(address_of(scope) or "unknown")
