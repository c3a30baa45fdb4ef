"""Read the credential of a request: an API key, or the session cookie of a browser on the same origin."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from app.auth.scopes import SAFE_METHODS
from core.store.repositories.api_keys import secret_sha256
from rankery.loopback import is_loopback

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE)


class Hosts:
    """Host names under which this service answers.

    Args:
        allowed: Names besides loopback and the machine's host name, without a port.
    """

    def __init__(self, allowed: Iterable[str]) -> None:
        self._names = {name.rstrip(".").lower() for name in (*allowed, socket.gethostname())}

    def matches_host_header(self, headers: Headers, *, by_address: bool) -> bool:
        """Return whether the Host header has a name of this service.

        Args:
            by_address: Whether any IP address is accepted, since DNS rebinding cannot forge addresses. False
                while no key is needed: then only this machine may send requests.
        """
        authorities = [_AUTHORITY.fullmatch(host) for host in headers.getlist("host")]
        if len(authorities) != 1 or authorities[0] is None:
            return False
        name = authorities[0][1].strip("[]").rstrip(".").lower()
        return name in self._names or is_loopback(name) or (by_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


_OWN_SITES = frozenset({"same-origin", "none"})  # none: the user typed the URL or opened a bookmark


def is_foreign(headers: Headers, method: str) -> bool:
    """Return whether a page of another origin sent the request, other than by a followed link.

    `Origin` and `Sec-Fetch-Site` are set by the browser; pages cannot change them. Programs send neither.
    """
    if any(not _names_host(origin, headers) for origin in headers.getlist("origin")):
        return True
    site = headers.get("sec-fetch-site")
    return site is not None and site not in _OWN_SITES and not _is_followed_link(headers, method)


def is_same_origin(headers: Headers) -> bool:
    """Return whether the browser reports a same-origin request."""
    origins = headers.getlist("origin")
    if origins:
        return all(_names_host(origin, headers) for origin in origins)
    return headers.get("sec-fetch-site") == "same-origin"


def _names_host(origin: str, headers: Headers) -> bool:
    # Ignore the scheme: behind a proxy that terminates TLS, requests of https origins arrive as HTTP.
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").lower()


def _is_followed_link(headers: Headers, method: str) -> bool:
    return (
        method in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


SESSION_COOKIE = "rankery_session"


@dataclass(frozen=True)
class Credential:
    """A hashed API key or session secret."""

    kind: Literal["key", "session"]
    sha256: str

    @classmethod
    def of_key(cls, secret: str) -> "Credential":
        """Return the credential of an API key's secret."""
        return cls("key", secret_sha256(secret))


def credential_of(request: Request) -> Credential | None:
    """Return the credential of a request, or None; an API key takes precedence over a cookie.

    Browsers send cookies with cross-site requests, too. In addition to SameSite, the cookie of a request that
    may change something is therefore ignored unless the request is same-origin (CSRF).
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return Credential.of_key(secret.strip())
    return session_of(request) if request.method in SAFE_METHODS or is_same_origin(request.headers) else None


def session_of(request: Request) -> Credential | None:
    """Return the session named by the request's cookie, without checking the origin."""
    token = request.cookies.get(SESSION_COOKIE)
    return None if token is None else Credential("session", secret_sha256(token))


def set_session(response: Response, token: str, lifetime: timedelta, *, path: str, https: bool) -> None:
    """Set the session cookie, which scripts and other sites cannot read.

    Args:
        token: Secret of the session.
        path: Path prefix of requests with the cookie.
        https: Whether the cookie is sent over HTTPS only.
    """
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(lifetime.total_seconds()),
        path=path,
        secure=https,
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, *, path: str, https: bool) -> None:
    """Delete the session cookie."""
    response.delete_cookie(SESSION_COOKIE, path=path, secure=https, httponly=True, samesite="strict")
