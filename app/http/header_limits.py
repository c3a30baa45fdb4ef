"""Limits on the URL and the headers of a request, and on the encoding of its body."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from app.http.bodies import has_body
from app.http.middleware import HttpMiddleware
from app.http.problems import http_problem
from core.names import shortened

MAX_TARGET_BYTES = 2**13
MAX_HEADERS = 100
MAX_HEADER_BYTES = 2**14
_SEPARATORS = 4  # bytes of ": " and the line's end
# Both headers together make the end of a body ambiguous, which allows request smuggling through a proxy.
_FRAMING = {b"content-length", b"transfer-encoding"}


class HeaderLimits(HttpMiddleware):
    """ASGI middleware that refuses an overlong URL or headers, and a compressed body.

    The server's parser limits only a head that is still incomplete: a head that arrives in one piece passes.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if refusal := _refusal(scope):
            status, detail = refusal
            headers = {"Connection": "close"}
            if status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
                headers["Accept-Encoding"] = "identity"
            await http_problem(status, detail, headers)(scope, receive, send)
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
    return _encoding_refusal(Headers(scope=scope))


def _encoding_refusal(headers: Headers) -> tuple[HTTPStatus, str] | None:
    encoding = ", ".join(headers.getlist("content-encoding")).strip()
    if encoding.lower() in ("", "identity") or not has_body(headers):
        return None
    detail = (
        f"send the body without compression, not with Content-Encoding: {shortened(encoding)};"
        " uploaded files may be compressed"
    )
    return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail
