"""Serve the static files of the pages, and plotly.js from the plotly wheel."""

import gzip
import hashlib
import importlib.util
from functools import cache
from importlib.metadata import version
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

from app.dashboard.own_files import FOLDER, FOR_GOOD, files_url, own_file
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
        """Add the Cache-Control header."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["cache-control"] = self._cache_control
        return response


def mount_static(app: Starlette) -> None:
    """Serve `/static/`: our files, and `/static/plotly.min.js` from the wheel.

    URLs below `files_url()` contain the version, so browsers cache these files for good. Others are
    revalidated on each use.
    """
    files = Router(
        routes=[
            Route("/plotly.min.js", _plotly, name="plotly"),
            Route(f"{files_url().removeprefix('/static')}/{{name:path}}", own_file),
            Mount("/", CachedFiles(FOLDER, REVALIDATE)),
        ]
    )
    app.mount("/static", files, name="static")


@cache
def templates() -> Jinja2Templates:
    """The Jinja templates of the pages, with `url` for paths and `help` for links to the guide."""
    made = Jinja2Templates(directory=Path(__file__).parent / "templates", context_processors=[_root_path])
    made.env.globals |= {"url": _url, "help": _help}
    return made


def _root_path(request: Request) -> dict[str, Any]:
    return {"root_path": root_path_of(request.scope)}


@pass_context
def _help(context: Context, page: str, label: str) -> Markup:
    """Link a question mark to a page of the guide."""
    words = f"{label} in the guide"
    link = Markup('<a class="help" href="{}" title="{}" aria-label="{}">?</a>')
    return link.format(_url(context, f"/guide/{page}"), words, words)


@pass_context
def _url(context: Context, path: str) -> str:
    return f"{context['root_path']}{path}"


def plotly_url() -> str:
    """Return the URL of plotly.js with the wheel's version, so that browsers may cache it for good."""
    return f"/static/plotly.min.js?v={version('plotly')}"


def prepare_plotly() -> None:
    """Compress plotly.js, which takes a third of a second."""
    _plotly_gzip()
    _plotly_etag()


def _plotly(request: Request) -> Response:
    """Send plotly.js compressed where the browser takes gzip (4.8 MB become 1.4 MB)."""
    etag = _plotly_etag()
    headers = {
        "etag": etag,
        "cache-control": FOR_GOOD,
        "vary": "accept-encoding",
    }
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    content = _plotly_bytes()
    if "gzip" in request.headers.get("accept-encoding", ""):
        content = _plotly_gzip()
        headers["content-encoding"] = "gzip"
    return Response(content, media_type="text/javascript", headers=headers)


def _plotly_bytes() -> bytes:
    # find_spec, not import: importing plotly costs a second that nothing here needs.
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        msg = "the plotly package is not installed"
        raise RuntimeError(msg)
    return (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_bytes()


@cache
def _plotly_gzip() -> bytes:
    return gzip.compress(_plotly_bytes(), compresslevel=6, mtime=0)


@cache
def _plotly_etag() -> str:
    # Weak, because the compressed and the plain form share it.
    return f'W/"{hashlib.sha256(_plotly_bytes()).hexdigest()[:32]}"'
