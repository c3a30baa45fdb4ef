"""Scripts and styles under a versioned URL: read once, cached by browsers for ever."""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.http.compression import accepts_gzip

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
