"""A proxy between the service and its object store, which can answer 503 instead of the store."""

import contextlib
import socket
import threading

from tests.servers import TcpProxy

_BODY = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>ServiceUnavailable</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)
_UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/xml\r\nConnection: close\r\n"
    b"Content-Length: " + str(len(_BODY)).encode() + b"\r\n\r\n" + _BODY
)
_HEAD_END = b"\r\n\r\n"
_QUIET_SECONDS = 0.2


class StoreProxy(TcpProxy):
    """A proxy that forwards connections to the object store, or answers requests with 503 while closed.

    Open connections are cut when the proxy closes.

    Attributes:
        refused: Number of requests that were answered with 503.
    """

    def __init__(self, port: int) -> None:
        self._is_closed = threading.Event()
        self.refused = 0
        super().__init__(port)

    @property
    def url(self) -> str:
        """Address of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Answer 503 from now on."""
        self._is_closed.set()
        self.cut()

    def open(self) -> None:
        """Forward connections (again)."""
        self._is_closed.clear()
        super().open()

    def serve(self, near: socket.socket) -> None:
        """Forward one connection to the store, or answer its request with 503."""
        if self._is_closed.is_set():
            self._refuse(near)
            return
        super().serve(near)
        if self._is_closed.is_set():
            self.cut()

    def _refuse(self, near: socket.socket) -> None:
        """Read one request and answer it with 503."""
        with near, contextlib.suppress(OSError):
            received = b""
            while _HEAD_END not in received:
                block = near.recv(65536)
                if not block:
                    return
                received += block
            near.sendall(_UNAVAILABLE)
            self.refused += 1
            # If a connection is closed with unread bytes, it is reset and the answer is lost.
            near.settimeout(_QUIET_SECONDS)
            while near.recv(65536):
                pass
