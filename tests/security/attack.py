"""An attack: the bytes of a request, and the required answer."""

import contextlib
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

PATIENCE_SECONDS = 30.0
MAX_ANSWER_BYTES = 2**22


@dataclass(frozen=True)
class Answer:
    """An answer of the service.

    Attributes:
        status: HTTP status, 0 if the server closed the connection without an answer.
        headers: Headers by lower-case name; values of a repeated header are separated by line ends.
        body: Body, unchanged.
    """

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> str:
        """The last part of the problem's type, empty if the answer is no problem."""
        if self.headers.get("content-type") != "application/problem+json":
            return ""
        return str(json.loads(self.body)["type"]).rpartition("/")[2]


@dataclass(frozen=True)
class Attack:
    """A request and its answer. `{name}` in path and body is the id of an object in the target.

    Attributes:
        path: Target of the request, not normalised.
        status: Required status of the answer.
        problem: Last part of the problem's type; empty for an answer that is no problem.
        method: Method of the request.
        headers: Headers besides Host, the key and the length.
        body: Bytes or text as sent, or a value to encode as JSON.
        host: Host header, if it differs from the target's.
        scope: Scope of the key that is sent; None for no key.
        never: Texts that must not be in the answer, including its headers.
    """

    path: str
    status: int
    problem: str = ""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    host: str | None = None
    scope: str | None = "admin"
    never: tuple[bytes, ...] = field(default=())

    def request(self, url: str, ids: Mapping[str, str], secrets: Mapping[str, str]) -> bytes:
        """Return the bytes of the request, with key and length."""
        body = _encoded(self.body, ids)
        lines = [
            f"{self.method} {_filled(self.path, ids)} HTTP/1.1",
            f"Host: {self.host or urlsplit(url).netloc}",
        ]
        if self.scope is not None:
            lines.append(f"Authorization: Bearer {secrets[self.scope]}")
        named = {name.lower() for name, _ in self.headers}
        if self.body is not None and "content-type" not in named:
            lines.append("Content-Type: application/json")
        if self.body is not None and not {"content-length", "transfer-encoding"} & named:
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += ["Connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1") + body


def exchange(url: str, request: bytes, *, from_address: str = "127.0.0.1") -> Answer:
    """Send bytes on a separate connection and read one answer."""
    parts = urlsplit(url)
    place = (str(parts.hostname), int(parts.port or 80))
    with socket.create_connection(place, PATIENCE_SECONDS, source_address=(from_address, 0)) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the answer came early
            connection.sendall(request)
        return read_answer(connection)


def read_answer(connection: socket.socket) -> Answer:
    """Read one answer; its status is 0 if the connection ends before an answer."""
    response = HTTPResponse(connection)
    try:
        response.begin()
        headers: dict[str, str] = {}
        for name, value in response.getheaders():
            headers[name.lower()] = "\n".join([*headers.get(name.lower(), "").splitlines(), value])
        return Answer(response.status, headers, response.read(MAX_ANSWER_BYTES))
    except (HTTPException, ConnectionResetError):
        return Answer(0, {}, b"")
    finally:
        response.close()


def multipart(filename: str, content: bytes, *, part: str = "file", **fields: str) -> tuple[str, bytes]:
    """Write an upload without a library, which would clean its names; return Content-Type and body."""
    pieces = [
        f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = f'--cut\r\nContent-Disposition: form-data; name="{part}"; filename="{filename}"\r\n\r\n'
    body = "".join([*pieces, head]).encode() + content + b"\r\n--cut--\r\n"
    return "multipart/form-data; boundary=cut", body


def _encoded(body: Any, ids: Mapping[str, str]) -> bytes:
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    return _filled(body if isinstance(body, str) else json.dumps(body), ids).encode()


def _filled(text: str, ids: Mapping[str, str]) -> str:
    for name, value in ids.items():
        text = text.replace("{" + name + "}", value)
    return text
