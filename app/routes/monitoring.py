"""Metrics for Prometheus."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.services import UseServices

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def metrics(request: Request, services: UseServices) -> Response:
    """Tell what the service does and has done, as text or, where asked for, as OpenMetrics."""
    content, content_type = await services.metrics.exposition(request.headers.get("accept", ""))
    return Response(content, headers={"content-type": content_type, "cache-control": "no-store"})
