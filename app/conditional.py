"""Conditional GET: an ETag on every JSON answer, and 304 when the caller already has it."""

import hashlib

from starlette.requests import Request
from starlette.responses import Response


def conditional(request: Request, response: Response) -> Response:
    """Tag a successful GET by the hash of its body and answer 304 when `If-None-Match` names it.

    `no-cache` lets browsers keep the body while asking each time, which is what makes polling cheap.
    Streamed responses pass through: their body is not known yet.
    """
    if request.method != "GET" or response.status_code != 200 or not hasattr(response, "body"):
        return response
    etag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if matches(request.headers.get("If-None-Match"), etag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response


def matches(if_none_match: str | None, etag: str) -> bool:
    """Compare weakly (RFC 9110, section 13.1.2): without `W/`, any of a list, and `*` matches anything."""
    if if_none_match is None:
        return False
    candidates = (candidate.strip() for candidate in if_none_match.split(","))
    return any(candidate == "*" or candidate.removeprefix("W/") == etag for candidate in candidates)
