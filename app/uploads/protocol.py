"""Headers of the tus protocol."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from app.http.bodies import too_large
from app.http.multipart import plain_filename

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
CHECKSUM_MISMATCH = 460  # of the protocol's own; no status of HTTP

_ALGORITHMS: Mapping[str, Any] = MappingProxyType({"sha1": hashlib.sha1, "sha256": hashlib.sha256})
ALGORITHMS = tuple(_ALGORITHMS)
_KEY = re.compile(r"[!-+\--~]+")  # of ASCII, without blanks and commas
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Checksum:
    """The checksum that the body of a request must have.

    Attributes:
        algorithm: One of `ALGORITHMS`.
        digest: What its hash is to be.
    """

    algorithm: str
    digest: bytes

    @classmethod
    def of(cls, headers: Headers) -> "Checksum | None":
        """Read `Upload-Checksum`, None where there is none.

        Raises:
            HTTPException: 400 where it is malformed or of another algorithm.
        """
        given = headers.get("upload-checksum")
        if given is None:
            return None
        algorithm, _, encoded = given.partition(" ")
        if algorithm not in _ALGORITHMS:
            raise _unusable("Upload-Checksum", f"must begin with {' or '.join(ALGORITHMS)}")
        return cls(algorithm, _decoded("Upload-Checksum", encoded))

    def hash(self) -> Any:
        """Return a new hash of the algorithm."""
        return _ALGORITHMS[self.algorithm]()


@dataclass(frozen=True)
class Metadata:
    """The client's metadata of its file.

    Attributes:
        header: `Upload-Metadata` as it was sent, empty without one.
        filename: The name in it, without folders, None without one.
    """

    header: str
    filename: str | None

    @classmethod
    def of(cls, headers: Headers) -> "Metadata":
        """Read `Upload-Metadata`: keys, each followed by a value in base64, separated by commas.

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
    """Refuse a request that speaks no version of the protocol, or another one.

    Raises:
        HTTPException: 412.
    """
    if version != VERSION:
        detail = f"send the header Tus-Resumable: {VERSION}" + (f", not {version}" if version else "")
        raise HTTPException(HTTPStatus.PRECONDITION_FAILED, detail, headers={"Tus-Version": VERSION})


def require_content_type(headers: Headers) -> None:
    """Refuse a body that is not named as a piece of a file.

    Raises:
        HTTPException: 415.
    """
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != CONTENT_TYPE:
        detail = f"send the body as {CONTENT_TYPE}, not {given or 'without a Content-Type'}"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, headers={"Accept": CONTENT_TYPE})


def size_to_create(headers: Headers, max_bytes: int) -> int | None:
    """Return the size of a new upload, None where it is named later.

    Raises:
        HTTPException: 400 where neither is given, 413 where it is too large.
    """
    if "upload-concat" in headers:
        raise _unusable("Upload-Concat", "is not supported; send the file as one upload")
    size_bytes, deferred = upload_length(headers, max_bytes), headers.get("upload-defer-length")
    if deferred not in (None, "1"):
        raise _unusable("Upload-Defer-Length", "must be 1")
    if (size_bytes is None) == (deferred is None):
        raise _unusable("Upload-Length", "is required, or Upload-Defer-Length: 1 instead of it")
    return size_bytes


def upload_length(headers: Headers, max_bytes: int) -> int | None:
    """Return `Upload-Length`, None without one.

    Raises:
        HTTPException: 400 where it is no number, 413 where it is too large.
    """
    size_bytes = _number(headers, "Upload-Length")
    if size_bytes is not None and size_bytes > max_bytes:
        raise too_large(max_bytes)
    return size_bytes


def upload_offset(headers: Headers) -> int:
    """Return `Upload-Offset`.

    Raises:
        HTTPException: 400 where there is none, or no number.
    """
    offset = _number(headers, "Upload-Offset")
    if offset is None:
        raise _unusable("Upload-Offset", "is required: where in the file the body belongs")
    return offset


def _number(headers: Headers, name: str) -> int | None:
    given = headers.get(name)
    if given is None:
        return None
    if not _NUMBER.fullmatch(given):
        raise _unusable(name, f"must be a whole number of bytes, not {given[:40]!r}")
    return int(given)


def _decoded(header: str, encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _unusable(header, f"holds what is not base64: {error}") from error


def _unusable(header: str, detail: str) -> HTTPException:
    return HTTPException(HTTPStatus.BAD_REQUEST, f"{header}: {detail}")
