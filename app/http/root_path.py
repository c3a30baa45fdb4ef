"""Serve the application below a path of a host, such as `https://example.org/rankery`."""

from urllib.parse import quote, urlsplit, urlunsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware

_STATE = "root_path"


def root_path_of(scope: Scope) -> str:
    """Return the path below which the application is served, empty at the root of its host."""
    root_path: str = scope.get("state", {}).get(_STATE, "")
    return root_path


class RootPath(HttpMiddleware):
    """ASGI middleware that removes the root path from requests and adds it to `Location`.

    The whole application, including access rules and the audit log, gets paths without the root path.
    Requests without the root path are served as they are: proxies may remove it, and probes ask the process
    directly.

    Args:
        root_path: Such as `/rankery`; empty for none.
    """

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        super().__init__(app)
        self._root_path = root_path

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if not self._root_path:
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")

        async def send_public_location(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "location" in headers:
                    headers["location"] = self._public_url(headers["location"], host)
            await send(message)

        await self.app(self._without_root_path(scope), receive, send_public_location)

    def _without_root_path(self, scope: Scope) -> Scope:
        scope = {**scope, "state": {**scope.get("state", {}), _STATE: self._root_path}}
        path = scope["path"]
        if path != self._root_path and not path.startswith(f"{self._root_path}/"):
            return scope
        inner = path.removeprefix(self._root_path) or "/"
        raw, prefix = scope.get("raw_path"), self._root_path.encode()
        # The root path itself may have arrived percent-encoded.
        rest = raw[len(prefix) :] if raw is not None and raw.startswith(prefix) else quote(inner).encode()
        return {**scope, "path": inner, "raw_path": rest or b"/"}

    def _public_url(self, location: str, host: str) -> str:
        """Return the public URL of a redirect; URLs of other hosts and relative URLs stay unchanged."""
        parts = urlsplit(location)
        own = parts.netloc == host if parts.netloc else location.startswith("/")
        return urlunsplit(parts._replace(path=self._root_path + parts.path)) if own else location
