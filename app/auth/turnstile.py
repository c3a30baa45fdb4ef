"""Begin few requests at a time where a crowd of them would delay scoring.

Most of a request is Python, which one thread runs at a time. Thirty requests that begin together finish
together, and a scoring request among them waits for all; begun in turn, it waits for two.
"""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth.rate_limit import SCORING, purpose_of
from app.http.middleware import HttpMiddleware

AT_ONCE, TURN_SECONDS = 2, 0.02  # one may wait for the database while the other computes


class Turnstile(HttpMiddleware):
    """ASGI middleware that lets a request in when one before has ended, or has had its turn.

    A request that waits for a lock or reads a long body delays others by one turn, not longer. Scoring does
    not pass here.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if purpose_of(scope["method"], scope["path"]) == SCORING:
            await self.app(scope, receive, send)
            return
        await self._turn.acquire()
        turn = asyncio.get_running_loop().call_later(TURN_SECONDS, self._turn.release)
        try:
            await self.app(scope, receive, send)
        finally:
            if turn.when() > asyncio.get_running_loop().time():
                turn.cancel()
                self._turn.release()
