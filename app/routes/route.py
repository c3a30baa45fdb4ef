"""What every route of the API does before and after its function runs."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, ClassVar

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from app.bodies import JsonRequest
from app.conditional import conditional
from app.services import services_of


class JsonRoute(APIRoute):
    """A route that reads JSON strictly within bounds and answers GET conditionally."""

    max_bytes_setting: ClassVar[str] = "max_json_bytes"

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            max_bytes = getattr(services_of(request).settings, self.max_bytes_setting)
            if "\x00" in request.scope["path"]:
                raise HTTPException(HTTPStatus.NOT_FOUND)  # PostgreSQL cannot even be asked for it
            json_request = JsonRequest(request.scope, request.receive, max_bytes)
            if self.body_field is not None:
                json_request.require_json()
            return conditional(request, await handle(json_request))

        return handle_json


class ScoringRoute(JsonRoute):
    """A JSON route with room for hundreds of candidate documents."""

    max_bytes_setting: ClassVar[str] = "max_rank_bytes"
