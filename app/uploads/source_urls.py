"""Requests with URLs or finished resumable uploads instead of files."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from app.http.bodies import media_type_of
from app.http.route import JsonRoute
from core.errors import InputProblem, InvalidInput
from core.store.sources.source_urls import IR_DATASETS, AllowedUrls, parse_source_url

UPLOAD_PREFIX = "upload:"
_WITHOUT_PATTERNS = ("https", "http", IR_DATASETS)


@dataclass(frozen=True)
class NamedUpload:
    """A resumable upload that a request names.

    Attributes:
        pointer: JSON pointer of the reference in the request.
    """

    id: str
    pointer: str


def requested_urls(
    requested: str | Sequence[str], pointer: str, allowed: AllowedUrls, *, with_pattern: bool
) -> list[str]:
    """Check and return the URLs of a request.

    Args:
        allowed: URLs that may be read.
        with_pattern: Whether the request has a pattern of file names.

    Raises:
        InvalidInput: A URL is not allowed, or cannot be combined with a pattern.
    """
    if isinstance(requested, str):
        texts = {pointer: requested}
    else:
        texts = {f"{pointer}/{index}": text for index, text in enumerate(requested)}
    urls: list[str] = []
    problems: list[InputProblem] = []
    for text_pointer, text in texts.items():
        try:
            url = parse_source_url(text, text_pointer)
            allowed.check(url, text_pointer)
        except InvalidInput as invalid:
            problems += invalid.problems
            continue
        if with_pattern and url.scheme in _WITHOUT_PATTERNS:
            problems.append(
                InputProblem("/files", f"can only be used with folders of buckets, not with {url}")
            )
        urls.append(str(url))
    if problems:
        raise InvalidInput(*problems)
    return urls


class JsonBodyRoute(JsonRoute):
    """A route for requests with a JSON body; a later route of the same path handles other bodies."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the media type of the body, in addition to the path and the method."""
        if scope["type"] == "http" and media_type_of(Headers(scope=scope)) != "application/json":
            return Match.NONE, {}
        return super().matches(scope)
