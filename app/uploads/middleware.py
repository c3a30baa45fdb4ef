"""Middleware of the tus protocol."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware
from app.uploads.protocol import VERSION

PATH = "/v1/uploads"
# What needs the same scope as POST itself.
_OVERRIDING = frozenset({"PATCH", "DELETE"})


class TusProtocol(HttpMiddleware):
    """ASGI middleware that marks every answer about uploads with the version of the protocol.

    A POST with `X-HTTP-Method-Override` counts as PATCH or DELETE, for clients whose network knows neither.
    It is what all middleware behind this one sees.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["path"] != PATH and not scope["path"].startswith(f"{PATH}/"):
            await self.app(scope, receive, send)
            return
        wanted = Headers(scope=scope).get("x-http-method-override", "").upper()
        if scope["method"] == "POST" and wanted in _OVERRIDING:
            scope["method"] = wanted

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Tus-Resumable"] = VERSION
            await send(message)

        await self.app(scope, receive, send_marked)
