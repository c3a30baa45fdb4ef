"""Whether a browser asks for a page of ours or for somebody else's."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers

_OWN_SITES = frozenset({"same-origin", "none"})  # none: typed in, or a bookmark


def is_foreign(headers: Headers, method: str) -> bool:
    """Tell whether a page of another origin asks, other than by a link that the user follows.

    `Origin` and `Sec-Fetch-Site` are set by the browser and out of a page's reach. Programs send neither.
    """
    if any(not _names_host(origin, headers) for origin in headers.getlist("origin")):
        return True
    site = headers.get("sec-fetch-site")
    return site is not None and site not in _OWN_SITES and not _is_followed_link(headers, method)


def is_same_origin(headers: Headers) -> bool:
    """Tell whether the browser says that a page of this very origin asks."""
    origins = headers.getlist("origin")
    if origins:
        return all(_names_host(origin, headers) for origin in origins)
    return headers.get("sec-fetch-site") == "same-origin"


def _names_host(origin: str, headers: Headers) -> bool:
    # Without the scheme: a proxy that ends TLS asks us in plain HTTP for pages of an https origin.
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
