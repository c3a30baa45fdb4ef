"""Base route classes of the API, path parameters that may hold any text, and 202 responses."""

from collections.abc import Callable, Collection, Coroutine
from http import HTTPStatus
from threading import RLock
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import Match, compile_path, get_name
from starlette.types import Receive, Scope, Send

from app.http.bodies import JsonRequest
from app.http.caching import ResponseCache, conditional
from app.http.openapi import operation_id
from app.http.schemas import ResponseModel
from app.http.services import registered, services_of
from app.settings import ApiSettings
from core.store.visibility import visible_projects

_TEXT = "text"


class _TextConvertor(Convertor[str]):
    """Match the rest of a path with slashes and line breaks; Starlette's `path` ends at a line break."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor(_TEXT, _TextConvertor())


def any_text(name: str) -> str:
    """Return a path parameter that matches the rest of the path."""
    return f"{{{name}:{_TEXT}}}"


ACCEPTED = 202


def accepted(view: ResponseModel, location: str) -> JSONResponse:
    """Return a 202 response with the created resource and its URL."""
    return JSONResponse(view.model_dump(mode="json"), ACCEPTED, headers={"Location": location})


# The only path parameter that may contain a NUL: others are database keys, in which PostgreSQL refuses NUL.
QUERY_ID = "query_id"

Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class Router(APIRouter):
    """Routes of a feature, with full paths.

    The application uses these routes as they are: `include_router` would build them again for each
    application, which takes 0.1 s, and make matching slower.
    """

    def __init__(
        self, prefix: str = "", *, route_class: type[APIRoute] | None = None, **options: Any
    ) -> None:
        super().__init__(
            prefix=prefix,
            route_class=route_class or DeferredRoute,
            generate_unique_id_function=operation_id,
            **options,
        )


class DeferredRoute(APIRoute):
    """A route that FastAPI builds on its first use; a GET route also answers HEAD (RFC 9110, section 9.1).

    Requests are matched by path and method alone. Analysing all endpoints and their models would take a fifth
    of the import time of the application.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        name: str | None = None,
        methods: Collection[str] | None = None,
        include_in_schema: bool = True,
        **options: Any,
    ) -> None:
        self.path = path
        self.endpoint = endpoint
        self.name = get_name(endpoint) if name is None else name
        self.methods = {method.upper() for method in methods or ["GET"]}
        self.include_in_schema = include_in_schema
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._options = options
        self._lock = RLock()
        self._is_built = self._is_being_built = False

    def __getattr__(self, name: str) -> Any:
        """Build the route on access to an attribute that only a built route has."""
        if name.startswith("__") or "_lock" not in self.__dict__:
            raise AttributeError(name)
        with self._lock:
            if self._is_being_built:
                raise AttributeError(name)
            if not self._is_built:
                self._build()
            return self.__getattribute__(name)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as FastAPI does, and HEAD as GET."""
        return super().matches({**scope, "method": "GET"} if self._is_head_of_get(scope) else scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; the server sends no body in response to HEAD."""
        if self._is_head_of_get(scope):
            await self.app(scope, receive, send)
        else:
            await super().handle(scope, receive, send)

    def _is_head_of_get(self, scope: Scope) -> bool:
        return scope.get("method") == "HEAD" and "GET" in (self.methods or ())

    def _build(self) -> None:
        self._is_being_built = True
        try:
            super().__init__(
                self.path,
                self.endpoint,
                name=self.name,
                methods=self.methods,
                include_in_schema=self.include_in_schema,
                **self._options,
            )
            self._is_built = True
        finally:
            self._is_being_built = False


class JsonRoute(DeferredRoute):
    """A route that parses JSON strictly, limits its size, and answers GET and HEAD with an `ETag` or 304."""

    def get_route_handler(self) -> Handle:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            if any("\x00" in text for name, text in request.path_params.items() if name != QUERY_ID):
                raise HTTPException(HTTPStatus.NOT_FOUND)
            json_request = self.bounded(request, services_of(request).settings)
            response = await self.answer(json_request, handle)
            return conditional(request, response) if "GET" in (self.methods or ()) else response

        return handle_json

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Return the response to a request."""
        if self.body_field is not None:
            request.require_json()
        return await handle(request)

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Return the request with the body limits of the route."""
        return JsonRequest(request.scope, request.receive, settings.max_json_bytes)


class PolledRoute(JsonRoute):
    """A GET route with cached responses, which depend on the URL, the caller's projects and the database.

    A cached response is used until the database changes. All polled routes compute one response at a time, so
    none of them may read artifacts: a slow storage would delay the others.
    """

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Compute the response if the cached one may be stale.

        HEAD is not cached: a check of `If-Match` runs in another event loop, and the cache is of one.
        """
        if request.method == "HEAD":
            return await handle(request)
        store, cache = services_of(request).store, registered(request.app, ResponseCache)
        key = (request.scope["path"], request.scope["query_string"], visible_projects())

        async def find() -> tuple[str, bytes | None]:
            revision = (
                store.revision() if store.revision_never_blocks else await run_in_threadpool(store.revision)
            )
            return revision, cache.find(key, revision)

        _, body = await find()
        if body is None:
            async with cache.lock:
                revision, body = await find()
                if body is None:
                    response = await handle(request)
                    if response.status_code == HTTPStatus.OK:
                        cache.keep(key, revision, bytes(response.body))
                    return response
        return Response(body, media_type="application/json")
