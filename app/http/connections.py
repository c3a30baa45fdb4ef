"""Limits on connections: their number, and how long a client may stall."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.http.caller import Network, address_key, is_within
from app.http.problems import http_problem
from app.settings import ApiSettings

# Connections beyond `max_connections` that still get a 503; further ones are closed without a response.
_REFUSED = 64
_REFUSED_EACH = 8  # connections of one address beyond its limit that still get a 429

# Key in a request's state: functions to call when the server stops, before it waits for open responses.
ON_SHUTDOWN = "on_shutdown"


def server_options(settings: ApiSettings) -> dict[str, Any]:
    """Return the uvicorn options that limit connections.

    Beyond `max_connections` uvicorn itself answers 503 in plain text. Forwarding headers are accepted from
    trusted proxies only; uvicorn's default also trusts loopback.
    """

    class Bounded(TimeoutProtocol):
        head_seconds = settings.head_seconds
        stall_seconds = settings.body_idle_seconds
        max_connections = settings.max_connections + _REFUSED
        max_per_address = settings.max_connections_per_address
        proxies = settings.trusted_proxies
        by_address: ClassVar[Counter[str]] = Counter()
        on_shutdown: ClassVar[set[Callable[[], None]]] = set()

    return {
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": [str(network) for network in settings.trusted_proxies],
        "http": Bounded,
        "ws": "none",
        # uvicorn refuses the connection that reaches the limit.
        "limit_concurrency": settings.max_connections + 1,
        "timeout_keep_alive": settings.keep_alive_seconds,
    }


class TimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with timeouts.

    uvicorn itself has no timeout for the head of a request, the rest of a body after the response, or a
    client that stops reading.

    Attributes:
        head_seconds: Timeout for the head of a request, or for a body that no handler reads.
        stall_seconds: Timeout for a client that reads nothing of its response.
        max_connections: Largest number of connections; further connections are closed.
        max_per_address: Largest number per address; a few further connections get 429, others are closed.
        proxies: Networks of proxies, to which `max_per_address` does not apply.
        on_shutdown: Functions that end endless responses, called when the server stops.
    """

    head_seconds: ClassVar[float]
    stall_seconds: ClassVar[float]
    max_connections: ClassVar[int]
    max_per_address: ClassVar[int]
    proxies: ClassVar[Sequence[Network]]
    by_address: ClassVar[Counter[str]]
    on_shutdown: ClassVar[set[Callable[[], None]]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app_state = {**self.app_state, ON_SHUTDOWN: self.on_shutdown}
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._address: str | None = None  # key in `by_address`

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn
        """Start the timeout of the first request."""
        super().connection_made(transport)
        beyond = self._count_connection() - self.max_per_address
        if len(self.connections) > self.max_connections or beyond > _REFUSED_EACH:
            transport.abort()
            return
        if beyond > 0:
            self.app = _too_many(self.max_per_address)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._cancel_deadline()
        self._cancel_stall_timer()
        if self._address is not None:
            self.by_address[self._address] -= 1
            if not self.by_address[self._address]:
                del self.by_address[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; a deadline that is already running is not extended."""
        super().data_received(data)
        if self._is_between_requests():
            self._cancel_deadline()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self._is_awaiting_client():
            self._start_deadline()
        else:
            self._cancel_deadline()

    def shutdown(self) -> None:
        """Shut the connection down, and end endless responses."""
        super().shutdown()
        for end in tuple(self.on_shutdown):
            end()

    def pause_writing(self) -> None:
        """Start the timeout of a client that may have stopped reading its response."""
        super().pause_writing()
        self._start_stall_timer(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Stop the timeout of a client that reads again."""
        super().resume_writing()
        self._cancel_stall_timer()

    def _count_connection(self) -> int:
        """Count the connection, and return the number of connections of its address, 0 for a proxy."""
        if self.client is None or is_within(self.client[0], self.proxies):
            return 0
        self._address = address_key(self.client[0])
        self.by_address[self._address] += 1
        return self.by_address[self._address]

    def _is_between_requests(self) -> bool:
        """Return whether the last request and response are complete, and no further bytes have arrived."""
        idle = self.cycle is not None and self.cycle.response_complete and not self.conn.trailing_data[0]
        return idle and self.conn.their_state is h11.IDLE and not self.transport.is_closing()

    def _is_awaiting_client(self) -> bool:
        """Return whether only this connection, and no handler, waits for the client's next bytes."""
        if self.transport.is_closing():
            return False
        answered = self.cycle is None or self.cycle.response_complete
        return self.conn.their_state is h11.IDLE or (self.conn.their_state is h11.SEND_BODY and answered)

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _start_stall_timer(self, unsent_bytes: int) -> None:
        self._stall = self.loop.call_later(self.stall_seconds, self._abort_stalled_reader, unsent_bytes)

    def _abort_stalled_reader(self, unsent_bytes_before: int) -> None:
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes < unsent_bytes_before:
            self._start_stall_timer(unsent_bytes)
        else:
            self.transport.abort()

    def _cancel_stall_timer(self) -> None:
        if self._stall is not None:
            self._stall.cancel()


def _too_many(limit: int) -> Response:
    detail = (
        f"at most {limit} concurrent connections of an address are accepted; list proxies, which may have"
        " more, in RANKERY_TRUSTED_PROXIES"
    )
    return http_problem(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Connection": "close", "Retry-After": "1"})
