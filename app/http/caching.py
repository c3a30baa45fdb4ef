"""Conditional GET with ETags, and a cache of responses that is invalidated by database changes."""

import asyncio
import hashlib
from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import Response


def conditional(request: Request, response: Response) -> Response:
    """Add an `ETag` to a successful response of a GET route, or return 304 if `If-None-Match` has it.

    The `ETag` is a hash of the body. `no-cache` lets browsers keep and revalidate the body, which
    makes polling cheap. Streamed responses pass unchanged: their body is not known yet.
    """
    if response.status_code != 200 or not hasattr(response, "body"):
        return response
    etag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    # Weak, because the compressed and the uncompressed response share the `ETag`.
    headers = {"ETag": f"W/{etag}", "Cache-Control": "no-cache"}
    if matches(request.headers.get("If-None-Match"), etag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response


def matches(if_none_match: str | None, etag: str) -> bool:
    """Return whether `If-None-Match` has an `ETag` by weak comparison (RFC 9110, section 13.1.2).

    The comparison ignores `W/`; any member of a list may match, and `*` matches anything.
    """
    if if_none_match is None:
        return False
    candidates = (candidate.strip() for candidate in if_none_match.split(","))
    return any(candidate == "*" or candidate.removeprefix("W/") == etag for candidate in candidates)


MAX_CACHED_RESPONSES = 512
MAX_CACHED_BYTES = 2**16

# Path and query of a request, and the projects that its key is bound to.
CacheKey = tuple[str, bytes, tuple[str, ...] | None]


class ResponseCache:
    """Cache of response bodies by URL, each with the store revision read before the body was made.

    Many pages that follow the same job send the same requests, most of whose responses are unchanged.
    Large bodies are not cached: they are expensive to send, not to make. Not thread-safe.

    Attributes:
        lock: Held while a response is computed. Concurrent requests for the same URL share the response, and
            sequential computation finishes sooner than many concurrent threads.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self._bodies: OrderedDict[CacheKey, tuple[str, bytes]] = OrderedDict()

    def find(self, key: CacheKey, revision: str) -> bytes | None:
        """Return the cached response of a URL, or None if it is absent or may be stale."""
        cached_revision, body = self._bodies.get(key, ("", b""))
        if cached_revision != revision:
            return None
        self._bodies.move_to_end(key)
        return body

    def keep(self, key: CacheKey, revision: str, body: bytes) -> None:
        """Cache a response unless it is large; evict the least recently used one from a full cache."""
        if len(body) > MAX_CACHED_BYTES:
            return
        self._bodies[key] = (revision, body)
        self._bodies.move_to_end(key)
        if len(self._bodies) > MAX_CACHED_RESPONSES:
            self._bodies.popitem(last=False)
