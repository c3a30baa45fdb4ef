"""Serve the built guide, or explain how to build it."""

from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from app.dashboard.assets import ASK_AGAIN, KeptFiles

SITE = Path(__file__).parent / "site"
NOT_BUILT = "the guide has not been built here: `make guide` builds it"


def mount_guide(application: FastAPI, site: Path = SITE) -> None:
    """Serve `/guide/`, and its beginning for `/guide`."""

    def guide() -> Response:
        """Redirect to the guide's first page."""
        return RedirectResponse("/guide/")

    application.add_api_route("/guide", guide, include_in_schema=False)
    application.mount("/guide", _Guide(site), name="guide")


class _Guide:
    """The files of the guide, once it is built."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._files = KeptFiles(site, ASK_AGAIN, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if not (self._site / "index.html").is_file():
            raise HTTPException(404, NOT_BUILT)
        await self._files(scope, receive, send)
