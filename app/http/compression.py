"""Compress responses for clients that accept gzip."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware

MIN_BYTES = 1_000  # a smaller response fits into one packet without compression
_LEVEL = 4  # level 6 makes JSON a few per cent smaller, but takes 50% more time
_THREAD_BYTES = 2**15  # compress larger parts in a thread: 0.5 ms would delay scoring
_ZERO = re.compile(r"\s*q=0(\.0*)?\s*")


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether `Accept-Encoding` allows gzip, by name or by `*`, with a weight above 0 (RFC 9110)."""
    codings = (coding.partition(";") for coding in accept_encoding.lower().split(","))
    accepted = {name.strip(): _ZERO.fullmatch(weight) is None for name, _, weight in codings}
    return accepted.get("gzip", accepted.get("*", False))


class Compression(HttpMiddleware):
    """ASGI middleware that compresses larger responses to GET, except files, and weakens their ETags.

    Responses to POST are not compressed: a search engine waits for scores. The response with a new API key
    also repeats the caller's input; compressed, its size would reveal the secret (BREACH).
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
        elif accepts_gzip(Headers(scope=scope).get("accept-encoding", "")):
            await _Responder(self.app)(scope, receive, send)
        else:
            await IdentityResponder(self.app, MIN_BYTES)(scope, receive, send)


class _Responder(GZipResponder):
    """Compresses one response, unless it is a file to save."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, MIN_BYTES, _LEVEL, thread_minimum_size=_THREAD_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_weakened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # A strong ETag identifies exact bytes (RFC 9110, section 8.8.1), which differ by encoding.
                if headers.get("content-encoding") == self.content_encoding and "etag" in headers:
                    headers["etag"] = f"W/{headers['etag'].removeprefix('W/')}"
            await send(message)

        await super().__call__(scope, receive, send_weakened)

    async def send_with_compression(self, message: Message) -> None:
        """Send a message of the response, compressed unless the response is a file to save."""
        if message["type"] == "http.response.start" and "content-disposition" in Headers(
            raw=message["headers"]
        ):
            # Exports are made at low priority, and compressing them here would delay scoring.
            self.content_encoding_set = True
            await self.send(message)
        else:
            await super().send_with_compression(message)
