"""Validation of URLs of users."""

import re
from collections.abc import Collection

import httpx

from core.errors import InvalidInput

MAX_CHARACTERS = 2_000
MAX_PORT = 65_535
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def checked_url(url: str, pointer: str, schemes: Collection[str] = ("https", "http")) -> httpx.URL:
    """Parse and validate a URL; the guard checks its address at the time of a request.

    Args:
        url: The URL.
        pointer: JSON pointer of the URL in the payload, for errors.
        schemes: Allowed schemes, in lower case.

    Raises:
        InvalidInput: It is no such URL, or has a user name or password.
    """
    if len(url) > MAX_CHARACTERS:
        raise InvalidInput.at(pointer, f"must have at most {MAX_CHARACTERS:,} characters")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidInput.at(pointer, f"must be a URL: {error}") from error
    if parsed.port is not None and not 0 < parsed.port <= MAX_PORT:
        raise InvalidInput.at(pointer, f"must be a URL whose port is between 1 and {MAX_PORT}")
    if parsed.scheme not in schemes or not _HOST.fullmatch(parsed.raw_host.decode("ascii")):
        beginnings = " or ".join(f"{scheme}://" for scheme in schemes)
        raise InvalidInput.at(pointer, f"must be a URL that begins with {beginnings} and names a host")
    if parsed.userinfo:
        raise InvalidInput.at(pointer, "must not contain a user name or password")
    return parsed
