"""Files the pages load: our own scripts and styles, and the plotly.js that ships in the plotly wheel."""

import gzip
import hashlib
import importlib.util
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

if TYPE_CHECKING:
    import os

    from starlette.types import Scope

_FOLDER = Path(__file__).parent / "static"
ASK_AGAIN = "no-cache"
_FOR_GOOD = f"public, max-age={365 * 24 * 3600}, immutable"
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.[^"]+)";', re.MULTILINE)


class KeptFiles(StaticFiles):
    """Files of a folder, with what browsers are told about keeping them."""

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
        """Add how long to keep it."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["cache-control"] = self._cache_control
        return response


def mount_static(app: Starlette) -> None:
    """Serve `/static/`: our files, and `/static/plotly.min.js` from the wheel.

    Below `files_url()` the browser keeps our files for good: an upgrade has another address, so that it never
    mixes versions. Under their plain names it asks each time.
    """
    files = Router(
        routes=[
            Route("/plotly.min.js", _plotly, name="plotly"),
            Mount(files_url().removeprefix("/static"), KeptFiles(_FOLDER, _FOR_GOOD)),
            Mount("/", KeptFiles(_FOLDER, ASK_AGAIN)),
        ]
    )
    app.mount("/static", files, name="static")


@cache
def templates() -> Jinja2Templates:
    """The frames of the pages."""
    return Jinja2Templates(directory=Path(__file__).parent / "templates")


@cache
def files_url() -> str:
    """Where the files of this version are, `/static/3f…`: their digest names them all."""
    digest = hashlib.sha256()
    for path in sorted(path for path in _FOLDER.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(_FOLDER)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return f"/static/{digest.hexdigest()[:16]}"


@cache
def modules_of(page: str) -> tuple[str, ...]:
    """Names of the scripts that a page's own imports, however far down, for a browser to fetch all at once.

    Args:
        page: Its name, `jobs` for `pages/jobs.js`.

    Returns:
        Paths below `files_url()`, such as `parts/page/dom.js`.
    """
    found: set[Path] = set()
    waiting = [_FOLDER / "pages" / f"{page}.js"]
    while waiting:
        script = waiting.pop()
        imported = {(script.parent / target).resolve() for target in _IMPORT.findall(script.read_text())}
        waiting += imported - found
        found |= imported
    return tuple(sorted(str(path.relative_to(_FOLDER.resolve())) for path in found))


def plotly_url() -> str:
    """Address of plotly.js with the wheel's version, so that it may be cached for good."""
    return f"/static/plotly.min.js?v={version('plotly')}"


def _plotly(request: Request) -> Response:
    """Send plotly.js compressed where the browser takes gzip (4.8 MB become 1.4 MB)."""
    etag = _plotly_etag()
    headers = {
        "etag": etag,
        "cache-control": _FOR_GOOD,
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
