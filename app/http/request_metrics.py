"""Prometheus metrics of requests by route."""

import time
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from app.http.access_log import CLIENT_LEFT
from app.http.middleware import HttpMiddleware
from app.http.problems import METHODS
from app.http.services import registered

# Route label of unknown paths, and of requests refused before routing.
UNMATCHED = "unmatched"
_OTHER_METHOD = "other"
# Bounds of the duration histogram: from a poll with a 304 to an upload of gigabytes.
_BOUNDS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)


class RequestInstruments:
    """The Prometheus instruments of requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.in_progress = Gauge(
            "rankery_http_requests_in_progress", "Requests being answered", registry=registry
        )
        self._requests = Counter(
            "rankery_http_requests",
            "Requests by route, method and status",
            ("route", "method", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "rankery_http_request_duration_seconds",
            "Seconds from a request's head to the last byte of its answer",
            ("route", "method"),
            buckets=_BOUNDS_SECONDS,
            registry=registry,
        )

    def count(self, scope: Scope, status: int, seconds: float | None) -> None:
        """Count an answered request; `seconds` is None for a stream."""
        method = scope["method"] if scope["method"] in METHODS else _OTHER_METHOD
        route = route_template(scope)
        self._requests.labels(route, method, status).inc()
        if seconds is not None:
            self._seconds.labels(route, method).observe(seconds)


class RequestMetrics(HttpMiddleware):
    """ASGI middleware that counts each request in the metrics of the application that answers it."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        instruments = registered(scope["app"], RequestInstruments)
        status, is_stream = CLIENT_LEFT, False

        async def send_counted(message: Message) -> None:
            nonlocal status, is_stream
            if message["type"] == "http.response.start":
                status = message["status"]
                content_type = Headers(raw=message["headers"]).get("content-type", "")
                is_stream = content_type.startswith("text/event-stream")
            await send(message)

        started = time.perf_counter()
        with instruments.in_progress.track_inprogress():
            try:
                await self.app(scope, receive, send_counted)
            finally:
                seconds = None if is_stream else time.perf_counter() - started
                instruments.count(scope, status, seconds)


def route_template(scope: Scope) -> str:
    """Return the template of the matched route, such as `/v1/jobs/{job_id}`."""
    fastapi: Mapping[str, object] = scope.get("fastapi", {})
    # The context has the prefixes of the enclosing routers, which the route itself lacks.
    route = fastapi.get("effective_route_context") or scope.get("route")
    if scope.get("root_path"):  # below a mount the caller chooses the path
        return f"{scope['root_path']}/*"
    path = getattr(route, "path_format", None)
    if isinstance(path, str):
        return path
    # A plain Starlette route is not in the scope; without parameters its path is its template.
    return scope["path"] if "endpoint" in scope and not scope.get("path_params") else UNMATCHED
