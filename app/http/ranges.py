"""Range requests for files of a known size (RFC 9110, sections 13 and 14)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from app.http.caching import matches

_RANGE = re.compile(r"\s*bytes\s*=\s*(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))\s*", re.ASCII | re.IGNORECASE)
RANGE_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "Range",
        "in": "header",
        "required": False,
        "description": "A single range of bytes; for several ranges the whole file is returned",
        "schema": {"type": "string"},
        "example": "bytes=1048576-",
    },
    {
        "name": "If-Range",
        "in": "header",
        "required": False,
        "description": "`ETag` of the bytes that the client already has; if the file has changed, the whole"
        " file is returned",
        "schema": {"type": "string"},
        "example": '"0f5a4d1c0be58a5f2a3e2e0a0f0b6c1d"',
    },
]


@dataclass(frozen=True)
class RangedFile:
    """A file that supports range requests.

    Attributes:
        etag: A strong entity tag, in its quotes.
        blocks: Returns the bytes from a start position to before a stop position.
    """

    size_bytes: int
    etag: str
    blocks: Callable[[int, int], Iterator[bytes]]


@dataclass(frozen=True)
class Selection:
    """The requested range of a file.

    Attributes:
        status: 200, 206 or 304.
        start: Position of the first byte, from 0.
        stop: Position after the last byte; equal to `start` where nothing is sent.
    """

    status: int
    start: int
    stop: int
    headers: dict[str, str]


def select(request: Request, file: RangedFile) -> Selection:
    """Return the requested range of a file, with the status and headers of the response.

    A malformed `Range` is ignored, and so is a `Range` with several ranges, as the RFC allows.

    Raises:
        HTTPException: 416 where the range begins after the end of the file.
    """
    size, headers = file.size_bytes, request.headers
    response_headers = {"Accept-Ranges": "bytes", "ETag": file.etag, "Cache-Control": "no-cache"}
    if matches(headers.get("If-None-Match"), file.etag):
        return Selection(HTTPStatus.NOT_MODIFIED, 0, 0, response_headers)
    requested = _requested_range(headers, file) if request.method == "GET" else None
    if requested is None:
        return Selection(HTTPStatus.OK, 0, size, {**response_headers, "Content-Length": str(size)})
    start, stop = requested
    response_headers |= {
        "Content-Length": str(stop - start),
        "Content-Range": f"bytes {start}-{stop - 1}/{size}",
    }
    return Selection(HTTPStatus.PARTIAL_CONTENT, start, stop, response_headers)


def _requested_range(headers: Headers, file: RangedFile) -> tuple[int, int] | None:
    """Return the requested range, None for the whole file."""
    requested = _RANGE.fullmatch(headers.get("Range", ""))
    if requested is None or headers.get("If-Range", file.etag).strip() != file.etag:
        return None
    first, last, suffix = requested.groups()
    size = file.size_bytes
    if suffix is not None:
        start, stop = max(size - int(suffix), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise HTTPException(
            HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
            f"the file has {size:,} bytes",
            {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"},
        )
    return start, stop
