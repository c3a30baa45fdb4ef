"""Rate limits: what a caller may ask of one API process in a second."""

import math
import time
from collections.abc import Mapping
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.caller import SCORE
from app.access.rules import HEALTH, rule_of
from app.limits.buckets import Buckets
from app.limits.callers import caller_of
from app.problems import http_problem
from app.settings import ApiSettings

READING, WRITING, SCORING = "read", "write", "score"
# What a probe must not be told, or its process would be taken for dead.
_EXEMPT = HEALTH
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class RateLimit:
    """ASGI middleware that answers 429 to a caller who asks too often.

    Callers are told apart by their key, or by their address where none is needed, and have a bucket each for
    reads, for writes and for scoring. The buckets are this process's own: behind several API processes a
    caller has as many times the rate.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self.app = app
        rates = {
            READING: settings.reads_per_second,
            WRITING: settings.writes_per_second,
            SCORING: settings.scores_per_second,
        }
        self._buckets: Mapping[str, Buckets] = {
            purpose: Buckets(rate, rate * settings.burst_seconds) for purpose, rate in rates.items() if rate
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["path"] in _EXEMPT:
            await self.app(scope, receive, send)
            return
        purpose = purpose_of(scope["method"], scope["path"])
        buckets = self._buckets.get(purpose)
        wait_seconds = buckets.take(caller_of(scope), time.monotonic()) if buckets else 0.0
        if buckets is None or not wait_seconds:
            await self.app(scope, receive, send)
            return
        seconds = math.ceil(wait_seconds)
        detail = f"you may {purpose} {buckets.per_second:g} times a second; try again in {seconds} s"
        answer = http_problem(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": str(seconds)})
        await answer(scope, receive, send)


def purpose_of(method: str, path: str) -> str:
    """Tell which of a caller's buckets a request takes from."""
    if method in _READS:
        return READING
    rule = rule_of(path)
    return SCORING if rule is not None and rule.scope(method) == SCORE else WRITING
