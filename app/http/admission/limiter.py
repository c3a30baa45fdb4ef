"""Admit few requests at a time where many would delay scoring.

Requests are mostly Python code, which one thread runs at a time (GIL). Among thirty concurrent requests a
scoring request waits for all others; if two are admitted at a time, it waits for two.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.admission.limits import ADMITTED_REQUESTS, SLOT_SECONDS
from app.http.middleware import HttpMiddleware


class AdmissionLimiter(HttpMiddleware):
    """ASGI middleware that admits a request when another has ended, or has held its slot long enough.

    A request that waits for a lock or reads a long body delays others by `SLOT_SECONDS`, not longer.

    Args:
        app: The application to call.
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
