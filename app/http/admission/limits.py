"""Limits of requests: the table of concurrency, rates and timeouts, and the limit of admitted requests.

Requests are mostly Python code, which one thread runs at a time (GIL). Among thirty concurrent requests a
scoring request waits for all others; if two are admitted at a time, it waits for two.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.middleware import HttpMiddleware
from app.http.thread_pools import POOLS
from app.settings import ApiSettings
from core.store.sqlite_write_lock import PAUSE_SECONDS

ADMITTED_REQUESTS = 2  # one may wait for the database while the other computes
SLOT_SECONDS = 0.02
# Timeout of a write that waits for SQLite's lock, and occupies a thread meanwhile.
WRITE_LOCK_SECONDS = 5


@dataclass(frozen=True)
class Limit:
    """A limit that each API process applies to its requests.

    Attributes:
        bounds: Description of the limited quantity, with its unit.
        setting: Field of `ApiSettings` that changes the value, None for a constant.
    """

    name: str
    bounds: str
    default: float
    setting: str | None = None


def _configurable(name: str, setting: str) -> Limit:
    field = ApiSettings.model_fields[setting]
    return Limit(name, str(field.description), field.default, setting)


# In the order in which they apply to a request.
LIMITS: tuple[Limit, ...] = (
    _configurable("connections", "max_connections"),
    _configurable("connections of an address", "max_connections_per_address"),
    _configurable("time for headers", "head_seconds"),
    Limit("admitted requests", "Concurrent requests other than scoring", ADMITTED_REQUESTS),
    Limit(
        "admission slot",
        "Seconds after which an admitted request releases its slot to the next",
        SLOT_SECONDS,
    ),
    _configurable("wrong keys", "wrong_keys_per_minute"),
    _configurable("reads", "reads_per_second"),
    _configurable("writes", "writes_per_second"),
    _configurable("scoring requests", "scores_per_second"),
    _configurable("burst", "burst_seconds"),
    _configurable("idle body", "body_idle_seconds"),
    _configurable("slow body", "min_body_bytes_per_second"),
    _configurable("expensive reads", "expensive_reads_per_caller"),
    *(Limit(f"threads: {pool.name}", pool.purpose, pool.n_threads) for pool in POOLS),
    Limit(
        "low-priority process",
        "Concurrent exports and parity checks, in a process with a nice value of 19",
        1,
    ),
    Limit("SQLite writers", "Threads that concurrently hold or request SQLite's lock", 1),
    Limit("pause of SQLite writers", "Seconds that a writer waits after the previous writer", PAUSE_SECONDS),
    Limit("wait for SQLite", "Seconds after which a write is refused", WRITE_LOCK_SECONDS),
)


class AdmissionLimiter(HttpMiddleware):
    """ASGI middleware that admits a request when another has ended, or has held its slot long enough.

    A request that waits for a lock or reads a long body delays others by `SLOT_SECONDS`, not longer.

    Args:
        is_exempt: Whether a request of this scope needs no slot.
    """

    def __init__(self, app: ASGIApp, is_exempt: Callable[[Scope], bool]) -> None:
        super().__init__(app)
        self._is_exempt = is_exempt
        self._slots = asyncio.Semaphore(ADMITTED_REQUESTS)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if self._is_exempt(scope):
            await self.app(scope, receive, send)
            return
        await self._slots.acquire()
        loop = asyncio.get_running_loop()
        release = loop.call_later(SLOT_SECONDS, self._slots.release)
        try:
            await self.app(scope, receive, send)
        finally:
            if release.when() > loop.time():
                release.cancel()
                self._slots.release()
