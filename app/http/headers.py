"""Limits on the URL, the headers and the encoding of a request, and security headers of responses.

Scripts and style sheets get only the security headers that browsers apply to them.
"""

from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.http.bodies import has_body
from app.http.middleware import HttpMiddleware
from app.http.problems import http_problem
from core.names import shortened

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # Tables and drawings of the guide have style attributes.
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_YEAR_SECONDS = 365 * 24 * 3600

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # `no-referrer` would make browsers send forms with `Origin: null`.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# Browsers apply the other headers to documents only, and a page has up to 50 scripts.
_ASSET_HEADERS = ("x-content-type-options", "cross-origin-resource-policy")
_ASSET_TYPES = ("text/javascript", "text/css")


class SecurityHeaders(HttpMiddleware):
    """ASGI middleware that adds security headers to every response."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_asset = headers.get("content-type", "").startswith(_ASSET_TYPES)
                headers.update({name: HEADERS[name] for name in _ASSET_HEADERS} if is_asset else HEADERS)
                if scope["scheme"] == "https":
                    headers["strict-transport-security"] = f"max-age={_YEAR_SECONDS}"
            await send(message)

        await self.app(scope, receive, send_with_headers)


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
