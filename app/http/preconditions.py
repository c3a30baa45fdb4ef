"""`If-Match`: change an object only if no other caller has changed it."""

import asyncio
from http import HTTPStatus
from weakref import WeakValueDictionary

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.caching import matches
from app.http.middleware import HttpMiddleware
from app.http.problems import PRECONDITION_FAILED, problem

_CONDITIONS = (b"if-match", b"if-none-match", b"range")


class Preconditions(HttpMiddleware):
    """ASGI middleware that answers 412 to a change if `If-Match` has another `ETag` than GET sends.

    ETags are compared although they are weak: each is a hash of the body before its compression. Changes of
    an object with `If-Match` wait for each other, but not for those of other processes.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 412."""
        if_match = Headers(scope=scope).get("If-Match")
        if if_match is None or scope["method"] not in ("PUT", "PATCH", "DELETE"):
            await self.app(scope, receive, send)
            return
        async with self._locks.setdefault(scope["path"], asyncio.Lock()):
            if await self._is_met(if_match, scope):
                await self.app(scope, receive, send)
                return
        detail = "the ETag in If-Match is not that of the object; request the object again"
        await problem(PRECONDITION_FAILED, detail)(scope, receive, send)

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
