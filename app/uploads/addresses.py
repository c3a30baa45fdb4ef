"""Requests with URLs or finished resumable uploads instead of files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from app.http.route import JsonRoute
from core.errors import InputProblem, InvalidInput
from core.store.sources.addresses import IR_DATASETS, AllowedAddresses, parse_address

UPLOAD_PREFIX = "upload:"
_WITHOUT_PATTERNS = ("https", "http", IR_DATASETS)


@dataclass(frozen=True)
class NamedUpload:
    """A resumable upload that a request names.

    Attributes:
        id: Its id.
        pointer: JSON pointer of the reference in the request.
    """

    id: str
    pointer: str


def requested_addresses(
    requested: str | Sequence[str], pointer: str, allowed: AllowedAddresses, *, with_pattern: bool
) -> list[str]:
    """Check and return the URLs of a request.

    Args:
        requested: One address, or several.
        pointer: JSON pointer of the addresses in the request.
        allowed: Addresses that may be read.
        with_pattern: Whether the request has a pattern of file names.

    Raises:
        InvalidInput: An address is not allowed, or cannot be combined with a pattern.
    """
    texts = [requested] if isinstance(requested, str) else requested
    if isinstance(requested, str):
        pointers: Iterator[str] = iter([pointer])
    else:
        pointers = (f"{pointer}/{number}" for number in range(len(texts)))
    found: list[str] = []
    problems: list[InputProblem] = []
    for text, place in zip(texts, pointers, strict=True):
        try:
            address = parse_address(text, place)
            allowed.check(address, place)
        except InvalidInput as invalid:
            problems += invalid.problems
            continue
        if with_pattern and address.scheme in _WITHOUT_PATTERNS:
            problems.append(
                InputProblem("/files", f"can only be used with folders of buckets, not with {address}")
            )
        found.append(str(address))
    if problems:
        raise InvalidInput(*problems)
    return found


class JsonBodyRoute(JsonRoute):
    """A route for requests with a JSON body; a later route of the same path handles other bodies."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the media type of the body, in addition to the path and the method."""
        if scope["type"] == "http":
            media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
            if media_type != "application/json":
                return Match.NONE, {}
        return super().matches(scope)
