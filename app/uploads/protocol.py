"""Parse and document the headers of the tus protocol, and add its version to responses."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from app.http.bodies import media_type_of, too_large
from app.http.middleware import HttpMiddleware
from app.uploads.multipart import plain_filename

VERSION = "1.0.0"
EXTENSIONS = (
    "creation",
    "creation-with-upload",
    "creation-defer-length",
    "expiration",
    "checksum",
    "termination",
)
CONTENT_TYPE = "application/offset+octet-stream"
CHECKSUM_MISMATCH = 460  # status code of tus, not of HTTP

PATH = "/v1/uploads"
# Methods that `X-HTTP-Method-Override` may name; they need the same scope as POST.
_OVERRIDING = frozenset({"PATCH", "DELETE"})

_ALGORITHMS: Mapping[str, Any] = MappingProxyType({"sha1": hashlib.sha1, "sha256": hashlib.sha256})
ALGORITHMS = tuple(_ALGORITHMS)
_KEY = re.compile(r"[!-+\--~]+")  # printable ASCII without blanks and commas
_NUMBER = re.compile(r"[0-9]{1,18}")


_HEADERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Tus-Resumable": ("Version of the protocol", VERSION),
        "Upload-Length": ("Size of the whole file in bytes", "9216"),
        "Upload-Defer-Length": ("`1` if a later request declares the size", "1"),
        "Upload-Metadata": (
            "Keys with values in base64, separated by commas; `filename` is the name of the file",
            "filename dHJhaW4udHh0",
        ),
        "Upload-Offset": ("Offset of the body in the file, in bytes", "4096"),
        "Upload-Checksum": (
            "`sha1` or `sha256` of the body, in base64; a body with another checksum is discarded",
            "sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=",
        ),
    }
)
_BASE64 = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_HEADER_VALUES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "Tus-Resumable": {"enum": [VERSION]},
        "Upload-Length": {"pattern": f"^{_NUMBER.pattern}$"},
        "Upload-Defer-Length": {"enum": ["1"]},
        "Upload-Checksum": {"pattern": f"^({'|'.join(ALGORITHMS)})( {_BASE64})?$"},
    }
)
PROGRESS_HEADERS: Mapping[str, Any] = MappingProxyType(
    {
        "Upload-Offset": {"description": "Offset of the next byte", "schema": {"type": "integer"}},
        "Upload-Expires": {"description": "Time when the upload is removed", "schema": {"type": "string"}},
    }
)
PIECE_BODY: Mapping[str, Any] = MappingProxyType(
    {
        "required": True,
        "content": {
            CONTENT_TYPE: {
                "schema": {"type": "string", "contentMediaType": "application/octet-stream"},
                "example": "2 qid:1 1:0.5 2:3.0 # d1\n",
            }
        },
    }
)


@dataclass(frozen=True)
class Checksum:
    """The checksum that the body of a request must have.

    Attributes:
        algorithm: One of `ALGORITHMS`.
    """

    algorithm: str
    digest: bytes

    @classmethod
    def of(cls, headers: Headers) -> "Checksum | None":
        """Parse `Upload-Checksum`; return None without it.

        Raises:
            HTTPException: 400 where the header is malformed or names another algorithm.
        """
        value = headers.get("upload-checksum")
        if value is None:
            return None
        algorithm, _, encoded = value.partition(" ")
        if algorithm not in _ALGORITHMS:
            raise _unusable("Upload-Checksum", f"must begin with {' or '.join(ALGORITHMS)}")
        return cls(algorithm, _decoded("Upload-Checksum", encoded))

    def hash(self) -> Any:
        """Return a new hash of the algorithm."""
        return _ALGORITHMS[self.algorithm]()


@dataclass(frozen=True)
class Metadata:
    """Metadata of a file, as its client sent it.

    Attributes:
        header: `Upload-Metadata`, unchanged; empty without one.
        filename: File name from the header, without folders; None without one.
    """

    header: str
    filename: str | None

    @classmethod
    def of(cls, headers: Headers) -> "Metadata":
        """Parse `Upload-Metadata`: keys, each followed by a value in base64, separated by commas.

        Raises:
            HTTPException: 400 where it is malformed.
        """
        header = headers.get("upload-metadata", "").strip()
        values: dict[str, bytes] = {}
        for pair in header.split(",") if header else ():
            key, _, encoded = pair.strip().partition(" ")
            if not _KEY.fullmatch(key) or key in values:
                raise _unusable("Upload-Metadata", f"{key!r} is empty, not ASCII or given twice")
            values[key] = _decoded("Upload-Metadata", encoded)
        name = values.get("filename", b"").decode("utf-8", "replace")
        return cls(header, plain_filename(name) if name else None)


def require_version(version: str | None) -> None:
    """Refuse a request whose version of the protocol is missing or not supported.

    Raises:
        HTTPException: 412.
    """
    if version != VERSION:
        detail = f"send the header Tus-Resumable: {VERSION}" + (f", not {version}" if version else "")
        raise HTTPException(HTTPStatus.PRECONDITION_FAILED, detail, headers={"Tus-Version": VERSION})


def require_content_type(headers: Headers) -> None:
    """Refuse a body of another media type than `application/offset+octet-stream`.

    Raises:
        HTTPException: 415.
    """
    media_type = media_type_of(headers)
    if media_type != CONTENT_TYPE:
        detail = f"send the body as {CONTENT_TYPE}, not {media_type or 'without a Content-Type'}"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, headers={"Accept": CONTENT_TYPE})


def size_to_create(headers: Headers, max_bytes: int) -> int | None:
    """Return the size of a new upload, None if deferred.

    Raises:
        HTTPException: 400 unless the request has either a size or `Upload-Defer-Length`, 413 for a size above
            the limit.
    """
    if "upload-concat" in headers:
        raise _unusable("Upload-Concat", "is not supported; send the file as one upload")
    size_bytes, deferred = upload_length(headers, max_bytes), headers.get("upload-defer-length")
    if deferred not in (None, "1"):
        raise _unusable("Upload-Defer-Length", "must be 1")
    if (size_bytes is None) == (deferred is None):
        raise _unusable("Upload-Length", "is required, unless the request has Upload-Defer-Length: 1")
    return size_bytes


def upload_length(headers: Headers, max_bytes: int) -> int | None:
    """Return `Upload-Length`, None without one.

    Raises:
        HTTPException: 400 where it is not a number, 413 where it is too large.
    """
    size_bytes = _number(headers, "Upload-Length")
    if size_bytes is not None and size_bytes > max_bytes:
        raise too_large(max_bytes)
    return size_bytes


def upload_offset(headers: Headers) -> int:
    """Return `Upload-Offset`.

    Raises:
        HTTPException: 400 where the header is missing or not a number.
    """
    offset = _number(headers, "Upload-Offset")
    if offset is None:
        raise _unusable("Upload-Offset", "is required: the offset of the body in the file")
    return offset


def _number(headers: Headers, name: str) -> int | None:
    value = headers.get(name)
    if value is None:
        return None
    if not _NUMBER.fullmatch(value):
        raise _unusable(name, f"must be a whole number of bytes, not {value[:40]!r}")
    return int(value)


def _decoded(header: str, encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _unusable(header, f"must be base64: {error}") from error


def _unusable(header: str, detail: str) -> HTTPException:
    return HTTPException(HTTPStatus.BAD_REQUEST, f"{header}: {detail}")


def request_headers(*names: str, required: tuple[str, ...] = ("Tus-Resumable",)) -> list[dict[str, Any]]:
    """Describe request headers that routes parse themselves, with status 400 or 412 for mistakes, not 422."""
    return [_header(name, required=True) for name in required] + [_header(n, required=False) for n in names]


def _header(name: str, *, required: bool) -> dict[str, Any]:
    description, example = _HEADERS[name]
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", **_HEADER_VALUES.get(name, {})},
        "example": example,
    }


class TusProtocol(HttpMiddleware):
    """ASGI middleware that adds the version of the protocol to all responses about uploads.

    A POST with `X-HTTP-Method-Override` becomes PATCH or DELETE, for clients whose network supports neither.
    All later middleware sees the new method.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["path"] != PATH and not scope["path"].startswith(f"{PATH}/"):
            await self.app(scope, receive, send)
            return
        override = Headers(scope=scope).get("x-http-method-override", "").upper()
        if scope["method"] == "POST" and override in _OVERRIDING:
            scope["method"] = override

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Tus-Resumable"] = VERSION
            await send(message)

        await self.app(scope, receive, send_marked)
