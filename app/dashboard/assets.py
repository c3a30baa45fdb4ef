"""Scripts and styles under a versioned URL, and the routes that serve them."""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from app.http.compression import accepts_gzip
from app.http.root_path import root_path_of

if TYPE_CHECKING:
    import os

    from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"
CACHE_FOREVER = f"public, max-age={365 * 24 * 3600}, immutable"
STYLES = "styles.css"

_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.[^"]+)";', re.MULTILINE)
# JSDoc comments at the starts of lines, and types within lines: about a quarter of a script's size.
_JSDOC = re.compile(
    r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*|/\*\* @type (?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL
)
# The order matters: later style sheets override earlier ones.
_SHEETS = (
    *("tokens", "layout", "controls", "forms", "text", "tables", "figures"),
    *("jobs", "datasets", "models", "rankings", "studies", "autotrain", "clicks", "phones"),
)


@dataclass(frozen=True)
class _StaticFile:
    content: bytes
    gzipped: bytes
    media_type: str

    @classmethod
    def of(cls, name: str, content: bytes) -> "_StaticFile":
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if name.endswith(".js"):
            content = without_jsdoc(content.decode()).encode()
        return cls(content, gzip.compress(content, mtime=0), media_type)


@cache
def files_url() -> str:
    """Return the URL prefix of the files, `/static/3f…`, which has a digest of all files."""
    digest = hashlib.sha256()
    for name, file in sorted(_files().items()):
        digest.update(f"{name}\0{len(file.content)}\0".encode() + file.content)
    return f"/static/{digest.hexdigest()[:16]}"


@cache
def modules_of(page: str) -> tuple[str, ...]:
    """Return all scripts that a page and its header import, so that a browser can preload them.

    Args:
        page: Name of the page, such as `jobs` for `views/jobs.js`.

    Returns:
        Paths below `files_url()`, such as `page/dom.js`.
    """
    modules: set[Path] = set()
    scripts = (FOLDER / "page" / "header.js", FOLDER / "views" / f"{page}.js")
    waiting = [script for script in scripts if script.is_file()]  # the 404 page has no view script
    while waiting:
        script = waiting.pop()
        imported = {(script.parent / target).resolve() for target in _IMPORT.findall(script.read_text())}
        waiting += imported - modules
        modules |= imported
    return tuple(sorted(str(path.relative_to(FOLDER.resolve())) for path in modules))


def without_jsdoc(script: str) -> str:
    """Return a script with empty lines instead of JSDoc comments, so that line numbers stay correct."""
    return _JSDOC.sub(lambda comment: "\n" * comment.group().count("\n"), script)


async def static_file(request: Request) -> Response:
    """Send one file from memory, compressed where the browser takes gzip."""
    file = _files().get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    headers = {"cache-control": CACHE_FOREVER, "vary": "accept-encoding"}
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(
            file.gzipped, headers=headers | {"content-encoding": "gzip"}, media_type=file.media_type
        )
    return Response(file.content, headers=headers, media_type=file.media_type)


@cache
def _files() -> Mapping[str, _StaticFile]:
    """Read all files and concatenate the style sheets into one."""
    paths = (path for path in FOLDER.rglob("*") if path.is_file())
    contents = {str(path.relative_to(FOLDER)): path.read_bytes() for path in paths}
    contents[STYLES] = b"\n".join(contents[f"styles/{sheet}.css"] for sheet in _SHEETS)
    return {name: _StaticFile.of(name, content) for name, content in contents.items()}


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
