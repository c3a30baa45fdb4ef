"""A place between the service and its object store that can answer 503 in the store's stead."""

import contextlib
import socket
import threading

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


class StoreFront:
    """Passes connections on to the object store; once closed, answers every request with 503.

    What is under way when it closes is cut.

    Args:
        port: The port of the object store on this machine.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._is_closed = threading.Event()
        self._lock = threading.Lock()
        self._ends: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.refused = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Answer 503 from now on."""
        self._is_closed.set()
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            _cut(end)

    def open(self) -> None:
        """Serve again."""
        self._is_closed.clear()

    def stop(self) -> None:
        """Give up the port and all connections."""
        _cut(self._listener)
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                serve = self._refuse if self._is_closed.is_set() else self._connect
                threading.Thread(target=serve, args=(near,), daemon=True).start()

    def _refuse(self, near: socket.socket) -> None:
        """Read one request and say that there is no service now."""
        with near, contextlib.suppress(OSError):
            received = b""
            while _HEAD_END not in received:
                block = near.recv(65536)
                if not block:
                    return
                received += block
            near.sendall(_UNAVAILABLE)
            self.refused += 1
            # A connection closed over unread bytes is reset, and the answer is lost with it.
            near.settimeout(_QUIET_SECONDS)
            while near.recv(65536):
                pass

    def _connect(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            _cut(near)
            return
        with self._lock:
            self._ends |= {near, far}
        if self._is_closed.is_set():
            _cut(near)
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                sink.sendall(received)
        with self._lock:
            self._ends -= {source, sink}
        _cut(source)
        _cut(sink)


def _cut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        end.close()
