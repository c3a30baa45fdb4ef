"""Repeat one HTTP request over several concurrent connections."""

import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONNECTIONS = 4
JSON = "application/json"


@dataclass(frozen=True)
class Load:
    """A request that is sent repeatedly.

    Attributes:
        name: Name in the table.
        ports: Ports of the server processes.
        path: Path of the URL.
        media_type: Media type of the body.
        body: Body of the request.
    """

    name: str
    ports: Sequence[int]
    path: str
    media_type: str
    body: bytes

    @property
    def message(self) -> bytes:
        """The HTTP request as bytes."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {self.media_type}\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


@dataclass(frozen=True)
class Figures:
    """Requests per second, and quantiles of latency in milliseconds."""

    rate: float
    median: float
    p99: float


class Connection:
    """A kept-alive connection for sequential requests."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def exchange(self, message: bytes, status: bytes = b" 200 ") -> bytes:
        """Send a request and return the body of its response, which must have the status."""
        self._socket.sendall(message)
        answered, length = self._file.readline(), 0
        while (line := self._file.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._file.read(length)
        if status not in answered:
            raise SystemExit(f"{answered.decode()}{body[:500].decode(errors='replace')}")
        return body

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()


def measure(load: Load, seconds: float) -> Figures:
    """Send requests for some time over all connections concurrently."""
    message, until = load.message, time.monotonic() + seconds
    taken: list[list[float]] = [[] for _ in range(CONNECTIONS)]

    def send(number: int) -> None:
        connection = Connection(load.ports[number % len(load.ports)])
        while time.monotonic() < until:
            started = time.perf_counter()
            connection.exchange(message)
            taken[number].append(time.perf_counter() - started)
        connection.close()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    milliseconds = np.concatenate([np.array(part) for part in taken]) * 1e3
    return Figures(len(milliseconds) / seconds, *np.quantile(milliseconds, (0.5, 0.99)).tolist())


def ask(load: Load) -> bytes:
    """Send the request once and return the body of the response."""
    connection = Connection(load.ports[0])
    try:
        return connection.exchange(load.message)
    finally:
        connection.close()
