"""Limits on the URL and the headers of a request, and refusal of compressed bodies."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from app.http.bodies import has_body
from app.http.middleware import HttpMiddleware
from app.http.problems import http_problem

MAX_TARGET_BYTES = 2**13
MAX_HEADERS = 100
MAX_HEADER_BYTES = 2**14
_SEPARATORS = 4  # bytes of ": " and the line's end
# Both headers together make the end of a body ambiguous, which allows request smuggling through a proxy.
_FRAMING = {b"content-length", b"transfer-encoding"}
_PLAIN = "identity"


class HeaderLimits(HttpMiddleware):
    """ASGI middleware that refuses an overlong URL or headers, and compressed bodies.

    The server's parser limits only a head that is still incomplete: a head that arrives in one piece passes.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if refusal := _refusal(scope):
            status, detail = refusal
            await http_problem(status, detail, _headers_of(status))(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _refusal(scope: Scope) -> tuple[HTTPStatus, str] | None:
    target_bytes = len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])
    if target_bytes > MAX_TARGET_BYTES:
        return HTTPStatus.REQUEST_URI_TOO_LONG, f"the URL must have at most {MAX_TARGET_BYTES} bytes"
    headers = scope["headers"]
    if {name for name, _ in headers} >= _FRAMING:
        return HTTPStatus.BAD_REQUEST, "send either Content-Length or Transfer-Encoding"
    if len(headers) > MAX_HEADERS:
        detail = f"at most {MAX_HEADERS} headers are accepted"
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, detail
    if sum(len(name) + len(value) + _SEPARATORS for name, value in headers) > MAX_HEADER_BYTES:
        detail = f"the headers must have at most {MAX_HEADER_BYTES} bytes in total"
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, detail
    encoding = Headers(scope=scope).get("content-encoding", _PLAIN)
    if encoding.strip().lower() not in ("", _PLAIN) and has_body(Headers(scope=scope)):
        detail = f"send the body without Content-Encoding: {encoding:.40}; uploaded files may be compressed"
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail
    return None


def _headers_of(status: HTTPStatus) -> dict[str, str]:
    """Return the headers of a refusal, whose body is not read; RFC 9110 has the accepted coding for 415."""
    accepted = {"Accept-Encoding": _PLAIN} if status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE else {}
    return {"Connection": "close", **accepted}
