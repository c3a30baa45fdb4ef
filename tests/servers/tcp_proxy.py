"""A proxy between a client and a server, which can cut connections."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class TcpProxy:
    """Forward connections from a free port to a server, until the proxy is shut.

    While the proxy is shut, connections are refused; open connections are cut at that moment.
    While it is blocked, connections are accepted and received bytes are not forwarded.

    Usable as a context manager.

    Args:
        port: Port of the server on this machine.

    Attributes:
        port: Port of the proxy.
        passed_bytes: Number of bytes forwarded so far in both directions.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._is_unblocked = threading.Event()
        self._is_unblocked.set()
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self.passed_bytes = 0
        self.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()

    def open(self) -> None:
        """Forward connections (again), on the same port as before."""
        if self._listener is not None:
            return
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = int(listener.getsockname()[1])
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        """Refuse new connections and cut open connections."""
        listener, self._listener = self._listener, None
        if listener is not None:
            _cut(listener)
        self.cut()
        self._is_unblocked.set()

    def cut(self) -> None:
        """Cut open connections."""
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for end in sockets:
            _cut(end)

    def block(self) -> None:
        """Stop forwarding bytes; connections stay open."""
        self._is_unblocked.clear()

    def unblock(self) -> None:
        """Forward the bytes held back and those that follow."""
        self._is_unblocked.set()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near: socket.socket) -> None:
        """Forward one connection to the server."""
        self._is_unblocked.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            _cut(near)
            return
        with self._lock:
            is_shut = self._listener is None
            self._sockets |= {near, far}
        if is_shut:
            _cut(near)
            _cut(far)
            return
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                self._is_unblocked.wait()
                self.passed_bytes += len(received)
                sink.sendall(received)
        with self._lock:
            self._sockets -= {source, sink}
        _cut(source)
        _cut(sink)


def _cut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        end.close()
