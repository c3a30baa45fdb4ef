"""Pages of the dashboard, also for unknown URLs: templates whose scripts fetch their content from `/v1`."""

import json
from http import HTTPStatus

from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from app.auth.middleware import expects_page
from app.dashboard.assets import files_url, modules_of, templates
from app.dashboard.pages import GUIDE_PAGES, PAGES, SECTIONS, Page
from app.http.caller import SCORE, WRITE, caller_in
from app.http.middleware import HttpMiddleware
from app.http.route import Router

router = Router(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/train/one-loss")
def train_one_loss_page(request: Request) -> Response:
    """Redirect the old URL of the form for one loss."""
    query = f"&{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/train?goal=loss{query}")


def _add(page: Page) -> None:
    def answer(request: Request) -> Response:
        if page.name == "overview" and "kind" in request.query_params:  # earlier releases listed jobs here
            return RedirectResponse(f"/jobs?{request.url.query}")
        title = page.title or " · ".join(reversed(request.path_params.values()))
        return page_response(request, page.name, title, page.list_page, **page.context)

    router.add_api_route(page.path, answer, name=page.name)


for _page in PAGES:
    _add(_page)


def page_response(
    request: Request,
    name: str,
    title: str,
    list_page: str | None = None,
    *,
    status: int = HTTPStatus.OK,
    **context: object,
) -> Response:
    """Return a page whose script fetches its content.

    Args:
        list_page: Name of the list that the page belongs to, None for a list itself.
    """
    caller = caller_in(request.scope)
    return templates().TemplateResponse(
        request,
        f"{name}.html",
        {
            "page": name,
            "title": title,
            "current_list": list_page or name,
            "sections": SECTIONS,
            "files_url": files_url(),
            "modules": modules_of(name),
            "guide_page": GUIDE_PAGES.get(name, ""),
            "trash_days": request.app.state.trash_days,
            "signed_in_with": caller.name if caller.session_sha256 else None,
            "key_name": caller.name,
            "missing_scopes": [scope for scope in (SCORE, WRITE) if caller.key_id and not caller.may(scope)],
            **context,
        },
        status_code=status,
        headers={"cache-control": "no-cache"},
    )


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
