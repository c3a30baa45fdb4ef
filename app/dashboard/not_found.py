"""A page for browsers at unknown URLs."""

import json
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from app.auth.middleware import expects_page
from app.dashboard.routes import page_response
from app.http.middleware import HttpMiddleware

TITLE = "Page not found"


class NotFoundPages(HttpMiddleware):
    """ASGI middleware that returns a page instead of a 404 response to browsers that expect a page.

    Other clients get the JSON problem.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        request = Request(scope)
        if not expects_page(request):
            await self.app(scope, receive, send)
            return
        is_missing = page_sent = False

        async def send_page(message: Message) -> None:
            nonlocal is_missing, page_sent
            if message["type"] == "http.response.start":
                is_missing = message["status"] == HTTPStatus.NOT_FOUND
            if not is_missing:
                await send(message)
            elif message["type"] == "http.response.body" and not page_sent:
                page_sent = True
                detail = _detail(message.get("body", b""))
                status = HTTPStatus.NOT_FOUND
                answer = page_response(request, "not_found", TITLE, status=status, detail=detail)
                await answer(scope, receive, send)

        await self.app(scope, receive, send_page)


def _detail(body: bytes) -> str | None:
    """Return the detail of a JSON problem as a sentence without backticks, None for other bodies."""
    try:
        detail = str(json.loads(body)["detail"]).replace("`", "")
    except (ValueError, TypeError, KeyError):
        return None
    return f"{detail[:1].upper()}{detail[1:].removesuffix('.')}."
