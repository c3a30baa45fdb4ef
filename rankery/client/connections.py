"""Owners of connections, and the retry policy of requests."""

import asyncio
import os
import random
from dataclasses import dataclass, field

import httpx

from rankery.retry_after import retry_after_seconds

_FIRST_PAUSE_SECONDS = 0.2
_MAX_RETRY_AFTER_SECONDS = 60.0  # no retry if the service asks for a longer pause
# The service has not executed the request.
_NOT_EXECUTED_STATUSES = frozenset({httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE})
# A proxy gave up waiting; the service may have executed the request.
_LOST_RESPONSE_STATUSES = frozenset({httpx.codes.BAD_GATEWAY, httpx.codes.GATEWAY_TIMEOUT})
UNAVAILABLE = _NOT_EXECUTED_STATUSES | _LOST_RESPONSE_STATUSES
# Nothing of the request has left this machine.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class RetryPolicy:
    """The retry policy of one request.

    Args:
        repeatable: Whether the request is idempotent. Other requests are sent again only if they have
            certainly not been executed.

    Attributes:
        may_have_been_executed: Whether the response of an attempt was lost.
    """

    def __init__(self, retries: int, *, repeatable: bool) -> None:
        self._retries = retries
        self._repeatable = repeatable
        self._retries_made = 0
        self.may_have_been_executed = False

    def renew(self) -> None:
        """Restart the count of retries after progress."""
        self._retries_made = 0

    def pause_after_error(self, error: httpx.TransportError) -> float | None:
        """Return the seconds until the next attempt after a connection error; None for no retry."""
        not_sent = isinstance(error, _NOT_SENT)
        self.may_have_been_executed |= not not_sent
        return self._pause() if self._repeatable or not_sent else None

    def pause_after(self, response: httpx.Response) -> float | None:
        """Return the seconds until the next attempt after a response; None for no retry."""
        lost = response.status_code in _LOST_RESPONSE_STATUSES
        self.may_have_been_executed |= lost
        # The attempt whose response was lost may still be running.
        running = response.status_code == httpx.codes.CONFLICT and self.may_have_been_executed
        again = response.status_code in _NOT_EXECUTED_STATUSES or (self._repeatable and (lost or running))
        return self._pause(retry_after_seconds(response.headers.get("Retry-After"))) if again else None

    def _pause(self, at_least: float = 0.0) -> float | None:
        if self._retries_made >= self._retries or at_least > _MAX_RETRY_AFTER_SECONDS:
            return None
        longest = _FIRST_PAUSE_SECONDS * 2**self._retries_made
        self._retries_made += 1
        # Jitter: clients that failed at the same time do not retry at the same time.
        return at_least + random.uniform(longest / 2, longest)  # noqa: S311 - no secret


@dataclass(frozen=True)
class Owner:
    """The process that opens connections; a forked one would get responses to requests of its parent."""

    process: int = field(default_factory=os.getpid)

    @property
    def has_ended(self) -> bool:
        """Whether the connections can no longer be used."""
        return False


@dataclass(frozen=True)
class AsyncOwner(Owner):
    """The process and the event loop that open connections."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    @property
    def has_ended(self) -> bool:
        """Whether the event loop is closed."""
        return self.loop.is_closed()
