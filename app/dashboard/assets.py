"""Templates and static files of the pages."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from app.dashboard.versioned_files import FOLDER, files_url, static_file
from app.http.root_path import root_path_of

if TYPE_CHECKING:
    import os

    from starlette.types import Scope

REVALIDATE = "no-cache"


class CachedFiles(StaticFiles):
    """Files of a folder, served with a Cache-Control header."""

    def __init__(self, directory: Path, cache_control: str, **options: Any) -> None:
        super().__init__(directory=directory, **options)
        self._cache_control = cache_control

    def file_response(
        self,
        full_path: "str | os.PathLike[str]",
        stat_result: "os.stat_result",
        scope: "Scope",
        status_code: int = 200,
    ) -> Response:
        """Return the response of `StaticFiles` with the Cache-Control header."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["cache-control"] = self._cache_control
        return response


def mount_static(app: Starlette) -> None:
    """Serve the files of the pages under `/static/`.

    URLs below `files_url()` contain the version, so browsers cache these files permanently. Others are
    revalidated on each use.
    """
    files = Router(
        routes=[
            Route(f"{files_url().removeprefix('/static')}/{{name:path}}", static_file),
            Mount("/", CachedFiles(FOLDER, REVALIDATE)),
        ]
    )
    app.mount("/static", files, name="static")


@cache
def templates() -> Jinja2Templates:
    """Return the Jinja templates of the pages, with `url` for paths and `help` for links to the guide."""
    jinja = Jinja2Templates(directory=Path(__file__).parent / "templates", context_processors=[_root_path])
    jinja.env.globals |= {"url": _url, "help": _help}
    return jinja


def _root_path(request: Request) -> dict[str, Any]:
    return {"root_path": root_path_of(request.scope)}


@pass_context
def _help(context: Context, page: str, label: str) -> Markup:
    """Return a question mark that links to a page of the guide."""
    title = f"{label} in the guide"
    link = Markup('<a class="help" href="{}" title="{}" aria-label="{}">?</a>')
    return link.format(_url(context, f"/guide/{page}"), title, title)


@pass_context
def _url(context: Context, path: str) -> str:
    return f"{context['root_path']}{path}"
