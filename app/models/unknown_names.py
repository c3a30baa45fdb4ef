"""Suggest a similar name where a request names an unknown model."""

from contextlib import suppress
from typing import cast

from fastapi import FastAPI, Request
from starlette.responses import Response

from app.http.caller import READ, caller_in
from app.http.problems import KINDS, problem
from app.http.services import services_of
from core.errors import NotFound, RankeryError


def install(application: FastAPI) -> None:
    """Install the handler that answers `NotFound`."""
    application.add_exception_handler(NotFound, _on_not_found)


def _on_not_found(request: Request, error: Exception) -> Response:
    missing = cast("NotFound", error)
    hint = None
    # A key that may only score reads no names.
    if missing.kind == "model" and caller_in(request.scope).may(READ):
        with suppress(RankeryError), services_of(request).store.read() as tx:
            hint = tx.models.similar(missing.id)
    return problem(KINDS[NotFound], f"{missing}; {hint}" if hint else str(missing))
