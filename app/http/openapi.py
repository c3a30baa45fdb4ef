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
from app.http.problems import ALL_KINDS, MEDIA_TYPE

DESCRIPTION = """\
Train, evaluate and serve learning-to-rank models.

Upload or generate judged data, submit training jobs, and serve the models. Slow requests create a job, `202
Accepted`. Polled resources carry an `ETag`; send it back as `If-None-Match` and an unchanged answer costs a
`304` without a body. Changes respect `If-Match`, with `412`. `HEAD` is answered wherever `GET` is. Every
`POST` that creates objects takes an `Idempotency-Key`, except for API keys and webhooks. Send an API key as
`Authorization: Bearer rk_…`; until a key exists, requests from this machine need none. Callers above their
rate limit get `429` with `Retry-After`.
If a JSON object repeats a member, the last one counts.
Errors are `application/problem+json` (RFC 9457), with a JSON pointer to each invalid value in a payload.
"""
TAGS = (
    {"name": "datasets", "description": "Judged query-document data"},
    {"name": "clicks", "description": "Click logs, propensities and click models"},
    {"name": "uploads", "description": "Resumable uploads of large files, by the tus protocol 1.0.0"},
    {"name": "jobs", "description": "Trainings, evaluations and other jobs, which workers run"},
    {"name": "studies", "description": "Hyperparameter tuning: trials over a search space, and a conclusion"},
    {"name": "schedules", "description": "Jobs that are queued repeatedly at set times"},
    {"name": "models", "description": "Trained rankers, their versions and aliases; scoring and export"},
    {
        "name": "inference",
        "description": "Scoring by the Open Inference Protocol, version 2, as in KServe and Triton",
    },
    {"name": "interleavings", "description": "Comparisons of rankers by clicks on interleaved lists"},
    {"name": "results", "description": "Evaluations, comparisons, rankings and inspections of jobs"},
    {"name": "experiments", "description": "Reproductions of tables of papers"},
    {"name": "lifecycle", "description": "Storage usage, and the trash"},
    {"name": "events", "description": "Events as a list and as a stream, and webhooks"},
    {"name": "overview", "description": "Workers, counts of objects, and models in use"},
    {"name": "keys", "description": "API keys and the audit log"},
    {"name": "catalogue", "description": "Losses, scorers, metrics and other options of jobs"},
    {"name": "health", "description": "Whether the service is alive and ready"},
)
_PROBLEM_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "A problem, as defined in RFC 9457.",
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Stable identifier of the kind of problem",
        },
        "title": {"type": "string", "description": "Summary of the kind of problem"},
        "status": {"type": "integer", "description": "The HTTP status"},
        "detail": {"type": "string", "description": "Explanation of this occurrence"},
        "errors": {
            "type": "array",
            "description": "The first 100 invalid values of the request",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {
                    "pointer": {
                        "type": "string",
                        "description": "JSON pointer to the invalid value (RFC 6901)",
                    },
                    "detail": {"type": "string", "description": "Reason, and how to correct the value"},
                },
            },
        },
        "holders": {
            "type": "array",
            "description": "The first 100 dependents that prevent a deletion",
            "items": {"$ref": "#/components/schemas/Holder"},
        },
    },
}
# Details of an example of each kind of problem, by its slug.
_EXAMPLE_DETAILS: Mapping[str, str] = {
    "unauthenticated": "the API key is unknown, expired or revoked",
    "forbidden": "this request needs the scope write; the key key_01k9x2m4q7c8v5n3b6r1 has read",
    "not-found": "there is no job 'job_1'",
    "wrong-state": "dataset ds_01k9x2m4q7c8v5n3b6r1 is pending: a job needs it to be ready",
    "too-slow": "no bytes of the body have arrived for 30 s",
    "bad-request": "Upload-Offset: must be a whole number of bytes, not 'all'",
    "gone": "upload upl_01k9x2m4q7c8v5n3b6r1 was used; upload the file again",
    "unknown-version": "send the header Tus-Resumable: 1.0.0",
    "upload-taken-over": "another request has taken over upload upl_01k9x2m4q7c8v5n3b6r1, or the upload was"
    " deleted",
    "no-such-range": "the file has 1,048,576 bytes",
    "checksum-mismatch": "the sha1 of the body differs from Upload-Checksum",
    "too-large": "the body must have at most 1048576 bytes",
    "address-too-long": "the URL must have at most 8192 bytes",
    "unsupported-media-type": "send the body as application/json, not text/plain",
    "foreign-host": "the name in the Host header is not a name of this service; add it to"
    " RANKERY_ALLOWED_HOSTS",
    "invalid-input": "/loss/mu: must be greater than or equal to 0",
    "too-many-requests": "you may read 500 times a second; try again in 1 s",
    "headers-too-large": "at most 100 headers are accepted",
    "extra-missing": "an export to ONNX needs an optional package; install it with pip install"
    ' "rankery-server[onnx]", or with make extras in a clone',
    "insufficient-storage": "the disk of the uploads has 1,048,576 bytes left, of which 268,435,456 must stay"
    " free",
    "store-unavailable": "the database refuses connections",
}
_EXAMPLES: dict[int, dict[str, Any]] = {
    int(kind.status): {
        "type": f"/problems/{kind.slug}",
        "title": kind.title,
        "status": int(kind.status),
        "detail": _EXAMPLE_DETAILS[kind.slug],
    }
    for kind in ALL_KINDS
    if kind.slug in _EXAMPLE_DETAILS
}
_EXAMPLES[422]["errors"] = [{"pointer": "/loss/mu", "detail": "must be greater than or equal to 0"}]
_DESCRIPTIONS: Mapping[int, str] = {
    400: "A header is missing or malformed",
    401: "No valid API key; not while no API key exists",
    403: "The API key lacks the scope or is bound to projects, or the request is cross-origin",
    404: "A referenced object does not exist",
    409: "The current state does not allow the request",
    408: "The body arrives too slowly",
    410: "The upload was used or has expired",
    412: "The version of the protocol is not supported",
    416: "The range begins after the end of the file",
    413: "The body is too large",
    414: "The URL is too long",
    415: "The media type or the compression of the body is not accepted",
    421: "The name in the Host header is not a name of the service",
    422: "The request is not valid",
    423: "Another request has taken over the upload",
    429: "Too many requests, jobs, uploads or connections of the caller; `Retry-After`, if sent, says when to"
    " retry",
    431: "The headers are too large",
    460: "The checksum of the body does not match",
    501: "An optional package is not installed",
    503: "A component of the service is unavailable or starting, or the service has too many connections",
    507: "Not enough free space",
}

_FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")

Responses = dict[int | str, dict[str, Any]]
_NOT_MODIFIED: Responses = {304: {"description": "Unchanged since the `ETag` in `If-None-Match`"}}
# Problems of a JSON request body.
_BODY = (408, 413, 415, 422)
# Problems of an upload.
UPLOAD_PROBLEMS = (408, 409, 413, 415, 422, 507)
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


def body_problems(*statuses: int) -> Responses:
    """Return the problem responses of an operation with a JSON body."""
    return problems(*statuses, *_BODY)


def etag_responses(*statuses: int) -> Responses:
    """Return the 304 response and the problem responses of an operation with an ETag."""
    return {**_NOT_MODIFIED, **problems(*statuses)}


def operation_id(route: APIRoute) -> str:
    """Return the operation id of a route: the name of its function, such as `create_job`."""
    return route.name


def install(
    application: FastAPI, describe_access: Callable[[dict[str, Any]], None], root_path: str = ""
) -> None:
    """Serve the OpenAPI document, with the Problem schema and the scope of each operation.

    `application.openapi()` returns the document in FastAPI's form. The service sends its compact form, which
    is equivalent and two fifths as long.
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

    def send(request: Request) -> Response:  # runs in a thread: the first call builds the document
        return conditional(request, Response(content(), media_type="application/json"))

    # Replace FastAPI's route, which serialises the document for each request, without an ETag.
    routes = [
        route for route in application.routes if getattr(route, "path", None) != application.openapi_url
    ]
    compact_route = Route(str(application.openapi_url), send, include_in_schema=False)
    application.router.routes[:] = [compact_route, *routes]


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
