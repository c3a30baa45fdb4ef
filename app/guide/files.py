"""Serve the built guide, or explain how to build it."""

import html
import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from app.dashboard.assets import REVALIDATE, CachedFiles
from app.http.root_path import root_path_of

_SERVICE_LINK = re.compile(r'\b(href|src)="/(?!/)')
SITE = Path(__file__).parent / "site"
# Browsers cache the headings this long; those of a rebuilt guide appear afterwards.
_HEADINGS_SECONDS = 300
NOT_BUILT = (
    "the guide is not built yet: run `make guide`, or wait for `make serve`, which builds it in the"
    " background"
)


def mount_guide(application: FastAPI, site: Path = SITE) -> None:
    """Serve the guide at `/guide/`, a redirect at `/guide`, and its headings for searches."""

    def guide() -> Response:
        """Redirect to the guide's first page."""
        return RedirectResponse("/guide/")

    def list_headings() -> Response:
        """List the guide's pages and headings."""
        headings = [heading._asdict() for heading in headings_of(site)]
        return JSONResponse(headings, headers={"cache-control": f"private, max-age={_HEADINGS_SECONDS}"})

    application.add_api_route("/guide", guide, include_in_schema=False)
    application.add_api_route("/guide/headings.json", list_headings, include_in_schema=False)
    application.mount("/guide", _Guide(site), name="guide")


class _GuideFiles(CachedFiles):
    """Files of the guide; links to the service are prefixed with the root path."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Send a file; relative links within the guide need no root path."""
        file, root_path = Path(full_path), root_path_of(scope)
        if not root_path or file.suffix != ".html":
            return super().file_response(full_path, stat_result, scope, status_code)
        text = _SERVICE_LINK.sub(rf'\1="{root_path}/', file.read_text())
        return HTMLResponse(text, status_code, headers={"cache-control": REVALIDATE})


class _Guide:
    """The files of the guide, once it is built."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._files = _GuideFiles(site, REVALIDATE, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if not (self._site / "index.html").is_file():
            raise HTTPException(404, NOT_BUILT)
        await self._files(scope, receive, send)


_TAG = re.compile(r"<[^>]+>")
# The reference has a heading for each operation and field; they would crowd out the headings of explanations.
_REFERENCE = "reference/"


class Heading(NamedTuple):
    """A page of the guide or a heading on it.

    Attributes:
        path: Path below `/guide/`, with the anchor of a heading.
        page: Title of the page that has the heading; empty for a page.
    """

    path: str
    title: str
    page: str


def headings_of(site: Path) -> list[Heading]:
    """Return the pages of a built guide, then the headings of all pages outside the reference.

    Returns:
        Pages and headings in the order of the navigation; none where the guide is not built.
    """
    index = site / "search" / "search_index.json"
    if not index.is_file():
        return []
    return _read(index, index.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(index: Path, modified_nanoseconds: int) -> list[Heading]:  # noqa: ARG001 - part of the key
    """Read the search index; the result is cached until the file changes."""
    documents: list[dict[str, Any]] = json.loads(index.read_text())["docs"]
    titles = {document["location"]: _text(document["title"]) for document in documents}
    pages = [Heading(path, title, "") for path, title in titles.items() if "#" not in path]
    sections = [
        Heading(path, title, titles.get(path.split("#")[0], ""))
        for path, title in titles.items()
        if "#" in path and not path.startswith(_REFERENCE)
    ]
    return pages + sections


def _text(title: str) -> str:
    return html.unescape(_TAG.sub("", title))
