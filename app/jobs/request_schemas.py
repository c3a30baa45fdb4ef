"""JSON schemas of the job requests, a part of the OpenAPI document, for forms."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import Field

from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import ResponseModel

router = Router(prefix="/v1/job-schemas", tags=["catalogue"], route_class=JsonRoute)

_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


class JobSchemas(ResponseModel):
    """JSON schemas of the requests that submit jobs."""

    kinds: dict[str, str] = Field(
        description="The schema of each kind's request, by name", examples=[{"train": "TrainRequest"}]
    )
    schemas: dict[str, Any] = Field(
        description="These schemas and all schemas that they reference as `#/components/schemas/…`",
        examples=[{"TrainRequest": {"type": "object"}}],
    )


@router.get("", summary="List the schemas of jobs", responses=etag_responses())
def list_job_schemas(request: Request) -> JobSchemas:
    """Return the fields of every kind of job with their bounds, defaults and descriptions.

    This is the small part of the OpenAPI document that a form needs.
    """
    return _schemas_of(request.app)


@lru_cache(maxsize=1)
def _schemas_of(application: FastAPI) -> JobSchemas:
    routes = [route for route in application.routes if isinstance(route, APIRoute) and _submits(route)]
    # The document of this route only: the document of all routes takes more than a second.
    document = get_openapi(title=application.title, version=application.version, routes=routes)
    body = document["paths"]["/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    kinds = {kind: name.rpartition("/")[2] for kind, name in body["discriminator"]["mapping"].items()}
    return JobSchemas(kinds=kinds, schemas=_closure(kinds.values(), document["components"]["schemas"]))


def _submits(route: APIRoute) -> bool:
    return route.path == "/v1/jobs" and "POST" in (route.methods or ())


def _closure(names: Iterable[str], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the named schemas and all schemas that they reference."""
    closure: dict[str, Any] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure[name] = schemas[name]
            waiting += _REFERENCE.findall(json.dumps(schemas[name]))
    return dict(sorted(closure.items()))
