"""Bounds on connections: how many there are, and how long one may keep the server waiting."""

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.settings import ApiSettings

# Connections beyond the bound that are still told why; more are cut without a word.
_TOLD = 64


def server_options(settings: ApiSettings) -> dict[str, Any]:
    """Return uvicorn's options that bound connections, its protocol among them.

    Beyond `max_connections` requests are answered 503 by uvicorn itself, in plain text.
    """

    class Bounded(PatientProtocol):
        head_seconds = settings.head_seconds
        stall_seconds = settings.body_idle_seconds
        most_connections = settings.max_connections + _TOLD

    return {
        "http": Bounded,
        "ws": "none",
        "limit_concurrency": settings.max_connections + 1,  # uvicorn refuses the one that reaches it
        "timeout_keep_alive": settings.keep_alive_seconds,
    }


class PatientProtocol(H11Protocol):
    """uvicorn's protocol for HTTP/1.1 with an end to its patience.

    uvicorn alone waits for ever for a request's head, for the rest of a body whose request it has answered,
    and for a client to take an answer.

    Attributes:
        head_seconds: How long a client may take for a request's head, or for a body that nobody awaits.
        stall_seconds: How long a client may take nothing of an answer.
        most_connections: Connections beyond these are cut.
    """

    head_seconds: ClassVar[float]
    stall_seconds: ClassVar[float]
    most_connections: ClassVar[int]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
            return
        self._await_client()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; none of them moves a deadline before which all had to be there."""
        super().data_received(data)
        if self._owes_bytes():
            self._await_client()
        else:
            self._stop_waiting()

    def pause_writing(self) -> None:
        """Watch a client that does not take its answer as fast as it is made."""
        super().pause_writing()
        self._await_reader(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Stop watching."""
        super().resume_writing()
        self._stop_watching()

    def _owes_bytes(self) -> bool:
        """Tell whether the client's next bytes are awaited by nobody but this connection."""
        if self.transport.is_closing():
            return False
        answered = self.cycle is None or self.cycle.response_complete
        return self.conn.their_state is h11.IDLE or (self.conn.their_state is h11.SEND_BODY and answered)

    def _await_client(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _await_reader(self, left_before: int) -> None:
        self._stall = self.loop.call_later(self.stall_seconds, self._check_reader, left_before)

    def _check_reader(self, left_before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < left_before:
            self._await_reader(left)
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
