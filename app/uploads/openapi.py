"""The headers of the tus protocol in the OpenAPI document."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.uploads.protocol import CONTENT_TYPE, VERSION

_SAID: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Tus-Resumable": ("Version of the protocol", VERSION),
        "Upload-Length": ("Size of the whole file in bytes", "9216"),
        "Upload-Defer-Length": ("`1` where the size comes with a later request", "1"),
        "Upload-Metadata": (
            "Keys with values in base64, separated by commas; `filename` is the name of the file",
            "filename dHJhaW4udHh0",
        ),
        "Upload-Offset": ("Where in the file the body belongs, in bytes", "4096"),
        "Upload-Checksum": (
            "`sha1` or `sha256` of the body, in base64; a body that does not match it is not kept",
            "sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=",
        ),
    }
)
_VALUES: Mapping[str, Mapping[str, Any]] = MappingProxyType({"Tus-Resumable": {"enum": [VERSION]}})
PROGRESS_HEADERS: Mapping[str, Any] = MappingProxyType(
    {
        "Upload-Offset": {"description": "Where the next byte belongs", "schema": {"type": "integer"}},
        "Upload-Expires": {"description": "When the upload is removed", "schema": {"type": "string"}},
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


def request_headers(*names: str, required: tuple[str, ...] = ("Tus-Resumable",)) -> list[dict[str, Any]]:
    """Describe headers of a request, which the routes read themselves: mistakes are 400 or 412, not 422.

    Args:
        *names: Of those that may be left out.
        required: Of those that must be there.
    """
    return [_header(name, required=True) for name in required] + [_header(n, required=False) for n in names]


def _header(name: str, *, required: bool) -> dict[str, Any]:
    description, example = _SAID[name]
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", **_VALUES.get(name, {})},
        "example": example,
    }
