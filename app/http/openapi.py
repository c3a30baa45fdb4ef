"""Build the OpenAPI document, with problem responses and operation ids."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.http.caching import conditional
from app.http.openapi_components import compact
from app.http.problems import MEDIA_TYPE

DESCRIPTION = """\
Train, evaluate and serve learning-to-rank models.

Upload or generate judged data, submit training jobs, and serve the models. Slow requests create a job, `202
Accepted`. Polled resources carry an `ETag`; send it back as `If-None-Match` and an unchanged answer costs a
`304` without a body. Every `POST` that creates takes an `Idempotency-Key`, but for keys. Send an API key as
`Authorization: Bearer rk_…`; until one is made, this machine alone needs none. Callers above their rate limit
get `429` with `Retry-After`. Of members of one name in a JSON object the last counts.
Errors are `application/problem+json` (RFC 9457), with a JSON pointer to each mistake in a payload.
"""
TAGS = (
    {"name": "datasets", "description": "Judged query-document data"},
    {"name": "clicks", "description": "Click logs, and what is learnt from them"},
    {"name": "uploads", "description": "Large files in pieces, by the tus protocol 1.0.0; resumable"},
    {"name": "jobs", "description": "Training, evaluation and ranking as work for the workers"},
    {"name": "studies", "description": "Tuning: trials over a search space, and what they conclude"},
    {"name": "schedules", "description": "Jobs that are queued again and again by the clock"},
    {"name": "models", "description": "Trained rankers, their versions and aliases; scoring and export"},
    {
        "name": "inference",
        "description": "The Open Inference Protocol, version 2: models as KServe and Triton serve them",
    },
    {"name": "interleavings", "description": "Rankers that share lists, and which one users prefer"},
    {"name": "results", "description": "Evaluations and rankings that jobs made"},
    {"name": "experiments", "description": "Papers, and their tables trained and measured again"},
    {"name": "lifecycle", "description": "What is stored, and what was deleted and can be restored"},
    {"name": "events", "description": "What happened, as a list and as a stream, and webhooks"},
    {"name": "overview", "description": "Who works, how much there is, which models are in use"},
    {"name": "keys", "description": "What lets callers in, and what they changed"},
    {"name": "catalogue", "description": "What a job may name"},
    {"name": "health", "description": "Whether the service is alive and ready"},
)
_PROBLEM_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "An error, as RFC 9457 describes it.",
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Stable name of the kind of problem",
        },
        "title": {"type": "string", "description": "The kind of problem in words"},
        "status": {"type": "integer", "description": "The HTTP status"},
        "detail": {"type": "string", "description": "What happened this time"},
        "errors": {
            "type": "array",
            "description": "Each mistake in the payload",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "Where, as a JSON pointer (RFC 6901)"},
                    "detail": {"type": "string", "description": "What is wrong and what would be right"},
                },
            },
        },
        "holders": {
            "type": "array",
            "description": "What needs the object that was to be deleted, the first 100",
            "items": {"$ref": "#/components/schemas/Holder"},
        },
    },
}
_EXAMPLES: Mapping[int, dict[str, Any]] = {
    401: {
        "type": "/problems/unauthenticated",
        "title": "An API key is needed",
        "status": 401,
        "detail": "the API key is unknown, expired or revoked",
    },
    403: {
        "type": "/problems/forbidden",
        "title": "The API key may not do this",
        "status": 403,
        "detail": "this needs the scope write; the key key_01k9x2m4q7c8v5n3b6r1 has read",
    },
    404: {
        "type": "/problems/not-found",
        "title": "Not found",
        "status": 404,
        "detail": "there is no job 'job_1'",
    },
    409: {
        "type": "/problems/wrong-state",
        "title": "The present state does not allow this",
        "status": 409,
        "detail": "dataset ds_01k9x2m4q7c8v5n3b6r1 is pending: a job needs it to be ready",
    },
    408: {
        "type": "/problems/too-slow",
        "title": "The request arrives too slowly",
        "status": 408,
        "detail": "nothing of the body has arrived for 30 s",
    },
    400: {
        "type": "/problems/bad-request",
        "title": "The request cannot be understood",
        "status": 400,
        "detail": "Upload-Offset: must be a whole number of bytes, not 'all'",
    },
    410: {
        "type": "/problems/gone",
        "title": "It was used or has expired",
        "status": 410,
        "detail": "upload upl_01k9x2m4q7c8v5n3b6r1 was used; upload the file again",
    },
    412: {
        "type": "/problems/unknown-version",
        "title": "The version is not supported",
        "status": 412,
        "detail": "send the header Tus-Resumable: 1.0.0",
    },
    423: {
        "type": "/problems/upload-taken-over",
        "title": "Another request goes on with the upload",
        "status": 423,
        "detail": "another request goes on with upload upl_01k9x2m4q7c8v5n3b6r1, or it was deleted",
    },
    416: {
        "type": "/problems/no-such-range",
        "title": "The file has no such range",
        "status": 416,
        "detail": "the file has 1,048,576 bytes",
    },
    460: {
        "type": "/problems/checksum-mismatch",
        "title": "The bytes are not those that were sent",
        "status": 460,
        "detail": "the sha1 of the body is not that of Upload-Checksum",
    },
    413: {
        "type": "/problems/too-large",
        "title": "The request is too large",
        "status": 413,
        "detail": "the largest size accepted here is 8589934592 bytes",
    },
    414: {
        "type": "/problems/address-too-long",
        "title": "The address is too long",
        "status": 414,
        "detail": "the longest address accepted is 8192 bytes",
    },
    415: {
        "type": "/problems/unsupported-media-type",
        "title": "The media type is not accepted",
        "status": 415,
        "detail": "send the body as application/json, not text/plain",
    },
    421: {
        "type": "/problems/foreign-host",
        "title": "The service does not go by this name",
        "status": 421,
        "detail": "the name in the Host header is none of this service's; RANKERY_ALLOWED_HOSTS lists those"
        " beyond this machine's own",
    },
    422: {
        "type": "/problems/invalid-input",
        "title": "The request is not valid",
        "status": 422,
        "detail": "/loss/mu: must be greater than or equal to 0",
        "errors": [{"pointer": "/loss/mu", "detail": "must be greater than or equal to 0"}],
    },
    429: {
        "type": "/problems/too-many-requests",
        "title": "There are too many requests",
        "status": 429,
        "detail": "you may read 500 times a second; try again in 1 s",
    },
    431: {
        "type": "/problems/headers-too-large",
        "title": "The headers are too large",
        "status": 431,
        "detail": "at most 100 headers are accepted",
    },
    501: {
        "type": "/problems/extra-missing",
        "title": "This service was installed without that",
        "status": 501,
        "detail": 'an export to ONNX needs an optional package: pip install "rankery-server[onnx]"',
    },
    507: {
        "type": "/problems/insufficient-storage",
        "title": "There is no room for this",
        "status": 507,
        "detail": "the disk that uploads go to is full",
    },
    503: {
        "type": "/problems/store-unavailable",
        "title": "Storage cannot be reached",
        "status": 503,
        "detail": "the database failed: connection refused",
    },
}
_DESCRIPTIONS: Mapping[int, str] = {
    400: "A header is missing or malformed",
    401: "No API key, or none that is accepted; not while there is no key at all",
    403: "The API key lacks the scope, or a page of another site asks",
    404: "Something named does not exist",
    409: "The present state does not allow it",
    408: "The body arrives too slowly",
    410: "It was used up",
    412: "The version of the protocol is not supported",
    416: "The range begins behind the end of the file",
    413: "The body is too large",
    414: "The address is too long",
    415: "The body is of the wrong media type",
    421: "The service does not go by the name in the Host header",
    422: "The request is not valid",
    423: "Another request goes on with it",
    429: "The caller asks too often, or has too many jobs; retry after `Retry-After`",
    431: "The headers are too large",
    460: "The checksum of the body is wrong",
    501: "The service was installed without the package for this",
    503: "A part of the service cannot be reached, or it has too many connections",
    507: "There is no room to store it",
}

_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")

Responses = dict[int | str, dict[str, Any]]
NOT_MODIFIED: Responses = {304: {"description": "Unchanged since the `ETag` in `If-None-Match`"}}
# Problems of a JSON request body.
BODY_PROBLEMS = (408, 413, 415, 422)
# Problems of an upload.
UPLOAD_PROBLEMS = (408, 409, 413, 422, 507)
_ANYWHERE = (414, 429, 431, 503)


def problems(*statuses: int) -> Responses:
    """Return the OpenAPI problem responses of an operation, common ones included."""
    return {
        status: {
            "description": _DESCRIPTIONS[status],
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "example": _EXAMPLES[status],
                }
            },
        }
        for status in (*statuses, *_ANYWHERE)
    }


def operation_id(route: APIRoute) -> str:
    """Return the operation id of a route: the name of its function, such as `create_job`."""
    return route.name


def install(
    application: FastAPI, describe_access: Callable[[dict[str, Any]], None], root_path: str = ""
) -> None:
    """Serve the OpenAPI document, with the Problem schema and the scope of each operation.

    `application.openapi()` returns the document as FastAPI makes it. The service sends its compact form,
    which is equivalent and two fifths as long.
    """

    def openapi() -> dict[str, Any]:
        if application.openapi_schema is None:
            document = get_openapi(
                title=application.title,
                version=application.version,
                summary=application.summary,
                description=application.description,
                routes=application.routes,
                tags=application.openapi_tags,
                servers=[{"url": root_path}] if root_path else None,
            )
            _drop_framework_errors(document)
            _name_successes(document)
            describe_access(document)
            document["components"]["schemas"]["Problem"] = _PROBLEM_SCHEMA
            application.openapi_schema = document
        return application.openapi_schema

    application.openapi = openapi  # type: ignore[method-assign] # FastAPI's documented extension point

    @cache
    def content() -> bytes:
        return json.dumps(compact(openapi()), ensure_ascii=False, separators=(",", ":")).encode()

    def send(request: Request) -> Response:  # in a thread: the first one builds the document
        return conditional(request, Response(content(), media_type="application/json"))

    # FastAPI's own route serialises the document for each request, without an ETag.
    own = [route for route in application.routes if getattr(route, "path", None) != application.openapi_url]
    application.router.routes[:] = [Route(str(application.openapi_url), send, include_in_schema=False), *own]


def _drop_framework_errors(document: dict[str, Any]) -> None:
    """Remove the 422 that FastAPI adds to every path with a parameter, even if any text is valid."""
    for name in _FRAMEWORK_SCHEMAS:
        document["components"]["schemas"].pop(name, None)
    for responses in _responses(document):
        if "application/json" in responses.get("422", {}).get("content", {}):
            del responses["422"]


def _name_successes(document: dict[str, Any]) -> None:
    """Replace FastAPI's generic description of a success by the phrase of its HTTP status."""
    for responses in _responses(document):
        for status, response in responses.items():
            if response["description"] == "Successful Response":
                response["description"] = HTTPStatus(int(status)).phrase


def _responses(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        for operation in methods.values():
            yield operation["responses"]
