"""What every route of the API does before and after its function runs."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from app.bodies import JsonRequest
from app.conditional import conditional
from app.limits.scoring import check_candidates, max_containers
from app.services import services_of
from app.settings import ApiSettings


class JsonRoute(APIRoute):
    """A route that reads JSON strictly within bounds and answers GET conditionally."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            if "\x00" in request.scope["path"]:
                raise HTTPException(HTTPStatus.NOT_FOUND)  # PostgreSQL cannot even be asked for it
            settings = services_of(request).settings
            json_request = self.bounded(request, settings)
            if self.body_field is not None:
                json_request.require_json()
                await self.check(json_request, settings)
            return conditional(request, await handle(json_request))

        return handle_json

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Bound the body that a request may have."""
        return JsonRequest(request.scope, request.receive, settings.max_json_bytes)

    async def check(self, request: JsonRequest, settings: ApiSettings) -> None:
        """Refuse a body that is too much to look at closely."""


class ScoringRoute(JsonRoute):
    """A JSON route with room for hundreds of candidate documents."""

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Bound the body by the documents that it may hold."""
        return JsonRequest(request.scope, request.receive, settings.max_rank_bytes, max_containers(settings))

    async def check(self, request: JsonRequest, settings: ApiSettings) -> None:
        """Refuse more queries or documents than are scored at once.

        Raises:
            InvalidInput: There are too many.
        """
        try:
            body = await request.json()
        except JSONDecodeError:
            return  # FastAPI tells it
        check_candidates(body, settings)
