"""Health checks with a timeout, for parts of the service that may hang."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

TIMEOUT_SECONDS = 2.0
TOO_SLOW = f"does not answer within {TIMEOUT_SECONDS:g} s"
# Drivers time out after seconds or minutes; a check that has run longer than this is abandoned.
_ABANDON_SECONDS = 10.0


class Probe(Generic[Answer]):
    """A health check that runs in a separate thread, so that a caller can give up on it.

    The thread is not from the pool that serves requests, which hanging checks would exhaust. Concurrent
    callers share one check, so that a part that hangs occupies few threads.

    Args:
        check: The check, which returns its result or raises.
    """

    def __init__(self, check: Callable[[], Answer]) -> None:
        self._check = check
        self._running: Future[Answer] | None = None
        self._started_at = 0.0

    async def answer(self, timeout_seconds: float) -> Answer:
        """Return the result of the check, or raise its exception.

        Raises:
            TimeoutError: The check did not end in time.
        """
        now = time.monotonic()
        if self._running is None or self._running.done() or now - self._started_at > _ABANDON_SECONDS:
            self._running, self._started_at = self._begin(), now
        return await asyncio.wait_for(asyncio.wrap_future(self._running), timeout_seconds)

    def _begin(self) -> Future[Answer]:
        future: Future[Answer] = Future()
        future.set_running_or_notify_cancel()  # several callers may wait, so none can cancel the check

        def run_check() -> None:
            try:
                future.set_result(self._check())
            except BaseException as error:  # noqa: BLE001 - raised in the caller
                future.set_exception(error)

        threading.Thread(target=run_check, name="probe", daemon=True).start()
        return future


async def faults_of(probes: Mapping[str, Probe[str | None]]) -> dict[str, str | None]:
    """Run all probes concurrently and return the fault of each, None for a part that works."""
    faults = await asyncio.gather(*map(_fault, probes.values()))
    return dict(zip(probes, faults, strict=True))


async def _fault(probe: Probe[str | None]) -> str | None:
    try:
        return await probe.answer(TIMEOUT_SECONDS)
    except TimeoutError:
        return TOO_SLOW
