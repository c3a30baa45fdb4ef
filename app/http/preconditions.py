"""`If-Match`: change an object only if no other caller has changed it."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from app.http.caching import matches
from app.http.middleware import HttpMiddleware
from app.http.problems import PRECONDITION_FAILED, problem

_CONDITIONS = (b"if-match", b"if-none-match", b"range")


class Preconditions(HttpMiddleware):
    """ASGI middleware that answers 412 to a change if `If-Match` has another `ETag` than GET sends.

    ETags are compared although they are weak: each is a hash of the body before its compression.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 412."""
        if_match = Headers(scope=scope).get("If-Match")
        if if_match is not None and scope["method"] in ("PUT", "PATCH", "DELETE"):
            status, etag = await self._current(scope)
            # An absent object answers 404 itself, but PUT would create it.
            is_absent = status == HTTPStatus.NOT_FOUND and scope["method"] == "PUT"
            is_changed = status == HTTPStatus.OK and not matches(if_match, etag.removeprefix("W/"))
            if is_absent or is_changed:
                detail = "the ETag in If-Match is not that of the object; request the object again"
                await problem(PRECONDITION_FAILED, detail)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _current(self, scope: Scope) -> tuple[int, str]:
        """Return the status and the `ETag` of a GET request to the same URL."""
        headers = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        status, etag = 0, ""

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            nonlocal status, etag
            if message["type"] == "http.response.start":
                status, etag = message["status"], Headers(raw=message["headers"]).get("ETag", "")

        await self.app({**scope, "method": "GET", "query_string": b"", "headers": headers}, receive, send)
        return status, etag
