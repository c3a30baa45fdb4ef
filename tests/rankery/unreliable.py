"""A network with scripted faults, on real sockets in front of a real server."""

import contextlib
import re
import socket
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Literal

Fault = Literal["no answer", "lost answer", "busy", "bad gateway", None] | int

_EMPTY = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
_ANSWERS = {
    "busy": b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\n" + _EMPTY,
    "bad gateway": b"HTTP/1.1 502 Bad Gateway\r\n" + _EMPTY,
}
_LIMIT_SECONDS = 30.0


class Unreliable:
    """A proxy between a client and a server with scripted faults; a connection has one request.

    Args:
        server: URL of the server.
        faults: Fault of each request, in order. `no answer` closes the connection before the server has the
            request, and `lost answer` after it. `busy` and `bad gateway` are answers with an error. A
            number is the number of bytes of the answer that arrive. None means no fault;
            requests after the last entry have none either.

    Attributes:
        requests: Every received request, as it was sent.
    """

    def __init__(self, server: tuple[str, int], faults: Sequence[Fault]) -> None:
        self._server = server
        self._faults = list(faults)
        self.requests: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Unreliable":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()

    @property
    def url(self) -> str:
        """The URL of the proxy."""
        return "http://{}:{}".format(*self._listening.getsockname())

    def header(self, name: str) -> list[str | None]:
        """Return the values of a header, one per request."""
        pattern = re.compile(rb"^" + name.encode() + rb": (.*?)\r$", re.IGNORECASE | re.MULTILINE)
        matches = [pattern.search(request) for request in self.requests]
        return [match and match[1].decode() for match in matches]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the socket was closed
            while True:
                connection, _ = self._listening.accept()
                connection.settimeout(_LIMIT_SECONDS)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request = _message(connection)
            if not request:
                return
            fault = self._faults.pop(0) if self._faults else None
            self.requests.append(request)
            if fault == "no answer":
                return
            if isinstance(fault, str) and fault in _ANSWERS:
                connection.sendall(_ANSWERS[fault])
                return
            with socket.create_connection(self._server, timeout=_LIMIT_SECONDS) as upstream:
                upstream.sendall(request)
                answer = _message(upstream)
            if fault != "lost answer":
                answer = answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
                connection.sendall(answer[:fault] if isinstance(fault, int) else answer)


def _message(connection: socket.socket) -> bytes:
    """Read a whole HTTP message; a missing Content-Length means no body."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(2**16)
        if not chunk:
            return b""
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    missing = (int(length[1]) if length else 0) - len(body)
    while missing > 0:
        chunk = connection.recv(min(missing, 2**16))
        if not chunk:
            return b""
        received += chunk
        missing -= len(chunk)
    return received
