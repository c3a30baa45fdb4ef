"""Base route classes of the API."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.responses import Response

from app.http.bodies import JsonRequest
from app.http.caching import conditional
from app.http.openapi import operation_id
from app.services import services_of
from app.settings import ApiSettings
from core.store.visibility import projects

# The one parameter that is no key of the database, which PostgreSQL cannot even be asked for with a NUL.
QUERY_ID = "query_id"

Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class Router(APIRouter):
    """Routes of a feature, with their whole paths.

    The application takes them as they are: included routers are built again for each application, which takes
    0.1 s, and are slower to match.
    """

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(prefix=prefix, generate_unique_id_function=operation_id, **options)


class JsonRoute(APIRoute):
    """A route that reads JSON strictly within bounds and answers GET conditionally."""

    def get_route_handler(self) -> Handle:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            if any("\x00" in given for name, given in request.path_params.items() if name != QUERY_ID):
                raise HTTPException(HTTPStatus.NOT_FOUND)
            json_request = self.bounded(request, services_of(request).settings)
            return conditional(request, await self.answer(json_request, handle))

        return handle_json

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Return the response to a request."""
        if self.body_field is not None:
            request.require_json()
        return await handle(request)

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Apply the body limits of the route."""
        return JsonRequest(request.scope, request.receive, settings.max_json_bytes)


class PolledRoute(JsonRoute):
    """A GET route whose response depends on the URL, the caller's projects and the database, and is cached.

    As long as nothing changes, they are given again.
    """

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Compute the response if the cached one may be stale."""
        services = services_of(request)
        address = (request.scope["path"], request.scope["query_string"], projects())

        async def find() -> tuple[str, bytes | None]:
            store = services.store
            revision = (
                store.revision() if store.notifies_immediately else await run_in_threadpool(store.revision)
            )
            return revision, services.response_cache.find(address, revision)

        _, known = await find()
        if known is None:
            async with services.response_cache.lock:
                revision, known = await find()
                if known is None:
                    response = await handle(request)
                    if response.status_code == HTTPStatus.OK:
                        services.response_cache.keep(address, revision, bytes(response.body))
                    return response
        return Response(known, media_type="application/json")
