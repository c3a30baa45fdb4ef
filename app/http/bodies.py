"""Read JSON request bodies strictly and within limits."""

from codecs import BOM_UTF8
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any

from fastapi import Request
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope

# An empty array or object takes three bytes of a body and eighty of memory.
MAX_CONTAINERS = 100_000


class JsonRequest(Request):
    """A request whose JSON body is bounded and strictly follows RFC 8259.

    Args:
        max_containers: Largest number of arrays and objects in the body.
    """

    def __init__(
        self, scope: Scope, receive: Receive, max_bytes: int, max_containers: int = MAX_CONTAINERS
    ) -> None:
        super().__init__(scope, receive)
        self._max_bytes = max_bytes
        self._max_containers = max_containers
        self._content: bytes | None = None
        self._parsed: list[Any] = []

    async def body(self) -> bytes:
        """Read the body once, at most `max_bytes` of it.

        Raises:
            HTTPException: 413 when it is longer.
        """
        if self._content is None:
            declared = self.headers.get("content-length", "")
            if declared.isdecimal() and int(declared) > self._max_bytes:
                raise too_large(self._max_bytes)
            chunks, size = [], 0
            async for chunk in self.stream():
                chunks.append(chunk)
                size += len(chunk)
                if size > self._max_bytes:
                    raise too_large(self._max_bytes)
            self._content = b"".join(chunks)
        return self._content

    async def json(self) -> Any:
        """Parse the body, once.

        Raises:
            JSONDecodeError: The body is not JSON; FastAPI converts only this type to a validation error.
        """
        if not self._parsed:
            self._parsed.append(parse_json(await self.body(), self._max_containers))
        return self._parsed[0]

    def require_json(self, or_else: str | None = None) -> None:
        """Refuse a body of another media type.

        Args:
            or_else: Another accepted media type, for the message.

        Raises:
            HTTPException: 415.
        """
        media_type = media_type_of(self.headers)
        if media_type == "application/json" or (media_type == "" and not has_body(self.headers)):
            return
        accepted = f"application/json or {or_else}" if or_else else "application/json"
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"send the body as {accepted}, not {media_type or 'without a Content-Type'}",
            headers={"Accept": accepted.replace(" or ", ", ")},
        )


def media_type_of(headers: Headers) -> str:
    """Return the media type of a body, without parameters; empty without a Content-Type."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def has_body(headers: Headers) -> bool:
    """Return whether a request has a body."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def parse_json(content: bytes, max_containers: int = MAX_CONTAINERS) -> Any:
    """Parse untrusted JSON with limits on nesting, digits of an integer and containers.

    Python's own parser accepts `NaN`, unpaired surrogates and any nesting up to the stack limit, which would
    cause an internal error later. Pydantic's parser refuses these, more than 200 levels, and integers of more
    than 4,300 digits. If an object repeats a member, the last value counts, as everywhere in Python. A byte
    order mark, with which Windows saves files, is skipped.

    Args:
        max_containers: Largest number of arrays and objects; brackets within texts count, too.

    Raises:
        JSONDecodeError: The content is not JSON, or exceeds a limit.
    """
    if content.count(b"[") + content.count(b"{") > max_containers:
        raise JSONDecodeError(f"more than {max_containers} arrays and objects", "", 0)
    try:
        return from_json(content.removeprefix(BOM_UTF8), allow_inf_nan=False)
    except ValueError as error:
        raise JSONDecodeError(str(error), "", 0) from error


def too_large(max_bytes: int) -> HTTPException:
    """Return the 413 exception for a body that exceeds its size limit."""
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body must have at most {max_bytes} bytes")
