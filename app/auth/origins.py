"""Check the Host, Origin and Sec-Fetch-Site headers of requests."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

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
            headers: Headers of the request.
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
