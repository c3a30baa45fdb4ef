"""Security headers of responses; scripts and style sheets get only those that browsers apply to them."""

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.http.middleware import HttpMiddleware

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
