"""Requests with addresses or finished resumable uploads instead of files."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from app.http.bodies import media_type_of
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
    """Check and return the addresses of a request.

    Args:
        requested: One address, or several.
        pointer: JSON pointer of the addresses in the request.
        allowed: Addresses that may be read.
        with_pattern: Whether the request has a pattern of file names.

    Raises:
        InvalidInput: An address is not allowed, or cannot be combined with a pattern.
    """
    if isinstance(requested, str):
        texts = {pointer: requested}
    else:
        texts = {f"{pointer}/{index}": text for index, text in enumerate(requested)}
    addresses: list[str] = []
    problems: list[InputProblem] = []
    for text_pointer, text in texts.items():
        try:
            address = parse_address(text, text_pointer)
            allowed.check(address, text_pointer)
        except InvalidInput as invalid:
            problems += invalid.problems
            continue
        if with_pattern and address.scheme in _WITHOUT_PATTERNS:
            problems.append(
                InputProblem("/files", f"can only be used with folders of buckets, not with {address}")
            )
        addresses.append(str(address))
    if problems:
        raise InvalidInput(*problems)
    return addresses


class JsonBodyRoute(JsonRoute):
    """A route for requests with a JSON body; a later route of the same path handles other bodies."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the media type of the body, in addition to the path and the method."""
        if scope["type"] == "http" and media_type_of(Headers(scope=scope)) != "application/json":
            return Match.NONE, {}
        return super().matches(scope)
