"""Timeouts for the body of a request."""

import asyncio
import time
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware
from app.settings import ApiSettings

_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})


class BodyTimeout(HttpMiddleware):
    """ASGI middleware that times out a body that stalls or trickles.

    Reading the body then raises a 408, so that the handler removes the bytes that it has stored.
    Only the time spent waiting for the client counts, not the time of the service's own disks.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        super().__init__(app)
        self._idle_seconds = settings.body_idle_seconds
        self._bytes_per_second = settings.min_body_bytes_per_second

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if not any(name in _BODY_HEADERS for name, _ in scope["headers"]):
            await self.app(scope, receive, send)
            return
        body = _AwaitedBody(receive, send, self._idle_seconds, self._bytes_per_second)
        await self.app(scope, body.receive, body.send)


class _AwaitedBody:
    def __init__(self, receive: Receive, send: Send, idle_seconds: float, bytes_per_second: int) -> None:
        self._receive = receive
        self._send = send
        self._idle_seconds = idle_seconds
        self._bytes_per_second = bytes_per_second
        self._waited_seconds = 0.0
        self._received_bytes = 0
        self._complete = False
        self._answering = False

    async def send(self, message: Message) -> None:
        self._answering = True
        await self._send(message)

    async def receive(self) -> Message:
        if self._complete:  # only the client's disconnect follows, at any time
            return await self._receive()
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._idle_seconds):
                message = await self._receive()
        except TimeoutError:
            return self._give_up(f"no bytes of the body have arrived for {self._idle_seconds:g} s")
        self._waited_seconds += time.monotonic() - started
        self._received_bytes += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if not self._complete and self._is_too_slow():
            return self._give_up(f"the body arrives at less than {self._bytes_per_second} bytes a second")
        return message

    def _is_too_slow(self) -> bool:
        beyond_seconds = self._waited_seconds - self._idle_seconds
        return beyond_seconds > 0 and self._received_bytes < self._bytes_per_second * self._waited_seconds

    def _give_up(self, detail: str) -> Message:
        if self._answering:  # a response has begun
            return {"type": "http.disconnect"}
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, detail, headers={"Connection": "close"})
