"""ETags: conditional GET, preconditions of writes, and a cache that database changes invalidate."""

import asyncio
import hashlib
from collections import OrderedDict
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware
from app.http.problems import PRECONDITION_FAILED, problem
from app.http.thread_pools import CHECKS
from core.store import preconditions


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


_CONDITIONS = (b"if-match", b"if-none-match", b"range")
CHECK_SECONDS = 2  # longest wait for the current `ETag`, while other changes wait


class _Changed(Exception):
    """The object has another `ETag` than `If-Match`."""


class Preconditions(HttpMiddleware):
    """ASGI middleware that answers 412 to a change if `If-Match` has another `ETag` than GET sends.

    ETags are compared although they are weak: each is a hash of the body before its compression. They are
    compared before the change and again before its commit, while no process can commit another change. A
    change whose second comparison takes longer than `CHECK_SECONDS` gets 503.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 412."""
        if_match = Headers(scope=scope).get("If-Match")
        if if_match is None or scope["method"] not in ("PUT", "PATCH", "DELETE"):
            await self.app(scope, receive, send)
            return
        try:
            await self._change(if_match, scope, receive, send)
        except _Changed:
            detail = "the ETag in If-Match is not that of the object; request the object again"
            await problem(PRECONDITION_FAILED, detail)(scope, receive, send)

    async def _change(self, if_match: str, scope: Scope, receive: Receive, send: Send) -> None:
        original = dict(scope)  # the router adds to the scope

        def check() -> None:
            # In an event loop with its own threads: those of requests may all wait for this transaction.
            is_met = CHECKS.submit(lambda: asyncio.run(self._is_met(if_match, original)))
            try:
                if not is_met.result(CHECK_SECONDS):
                    raise _Changed
            except TimeoutError as error:
                is_met.cancel()
                detail = f"If-Match could not be checked within {CHECK_SECONDS:g} s; send the request again"
                raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "1"}) from error

        if not await self._is_met(if_match, original):
            raise _Changed
        with preconditions.required(check):
            await self.app(scope, receive, send)

    async def _is_met(self, if_match: str, scope: Scope) -> bool:
        """Return whether `If-Match` has the current `ETag`, or whether the change itself answers an error."""
        status, etag = await self._current(scope)
        if status == HTTPStatus.NOT_FOUND:
            return bool(scope["method"] != "PUT")  # PUT would create the object
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            return True  # the URL has no `ETag`
        return status == HTTPStatus.OK and matches(if_match, etag.removeprefix("W/"))

    async def _current(self, scope: Scope) -> tuple[int, str]:
        """Return the status and the `ETag` of GET, by a HEAD request: streams end after its headers."""
        headers = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        status, etag = 0, ""
        messages: asyncio.Queue[Message] = asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": b""})

        async def send(message: Message) -> None:
            nonlocal status, etag
            if message["type"] == "http.response.start":
                status, etag = message["status"], Headers(raw=message["headers"]).get("ETag", "")

        head = {**scope, "method": "HEAD", "query_string": b"", "headers": headers}
        await self.app(head, messages.get, send)
        return status, etag
