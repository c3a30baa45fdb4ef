"""Rate limits per caller, as token buckets in each API process."""

import math
import time
from collections.abc import Mapping
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth.scopes import HEALTH, rule_of
from app.http.caller import SCORE, rate_limit_key
from app.http.middleware import HttpMiddleware
from app.http.problems import http_problem
from app.settings import ApiSettings

MAX_CALLERS = 10_000


class TokenBuckets:
    """Token buckets, one per caller: a burst limit and a long-term rate.

    The generic cell rate algorithm (ITU-T I.371) stores one number per caller: the time at which its bucket
    will be full again. The least recently seen callers are evicted and restart with a full bucket: requests
    from very many addresses neither exhaust memory nor lock other callers out.

    Args:
        per_second: Tokens that a bucket gains a second.
        burst: Tokens in a full bucket, at least 1.
        max_callers: Largest number of stored callers.
    """

    def __init__(self, per_second: float, burst: float, max_callers: int = MAX_CALLERS) -> None:
        self.per_second = per_second
        self._interval = 1.0 / per_second
        self._tolerance_seconds = (max(burst, 1.0) - 1.0) / per_second
        self._max_callers = max_callers
        self._full_at: dict[str, float] = {}  # least recently seen caller first

    def take(self, caller: str, now: float) -> float:
        """Take a token from a caller's bucket.

        Args:
            now: Time of a monotonic clock in seconds.

        Returns:
            Seconds until there is a token, 0 where one was taken.
        """
        full_at = max(self._full_at.pop(caller, now), now)
        wait_seconds = full_at - now - self._tolerance_seconds
        self._full_at[caller] = full_at if wait_seconds > 0 else full_at + self._interval
        if len(self._full_at) > self._max_callers:
            del self._full_at[next(iter(self._full_at))]
        return max(wait_seconds, 0.0)


READING, WRITING, SCORING = "read", "write", "score"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class RateLimit(HttpMiddleware):
    """ASGI middleware that answers 429 to callers above their rate limit.

    Callers are identified by key, or by address without authentication. Each caller has separate buckets for
    reads, for writes and for scoring. Each API process has its own buckets: with several processes a
    caller has a multiple of the rate.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        super().__init__(app)
        rates = {
            READING: settings.reads_per_second,
            WRITING: settings.writes_per_second,
            SCORING: settings.scores_per_second,
        }
        self._buckets: Mapping[str, TokenBuckets] = {
            purpose: TokenBuckets(rate, rate * settings.burst_seconds)
            for purpose, rate in rates.items()
            if rate
        }

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["path"] in HEALTH:  # a probe that gets 429 would report a dead process
            await self.app(scope, receive, send)
            return
        purpose = purpose_of(scope["method"], scope["path"])
        buckets = self._buckets.get(purpose)
        wait_seconds = buckets.take(rate_limit_key(scope), time.monotonic()) if buckets else 0.0
        if buckets is None or not wait_seconds:
            await self.app(scope, receive, send)
            return
        seconds = math.ceil(wait_seconds)
        detail = f"you may {purpose} {buckets.per_second:g} times a second; try again in {seconds} s"
        answer = http_problem(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": str(seconds)})
        await answer(scope, receive, send)


def purpose_of(method: str, path: str) -> str:
    """Return the purpose of a request, which selects its rate limit: `read`, `write` or `score`."""
    if method in _READS:
        return READING
    rule = rule_of(path)
    return SCORING if rule is not None and rule.scope(method) == SCORE else WRITING


def is_scoring(scope: Scope) -> bool:
    """Return whether a request needs the scope `score`, as scoring, interleaved lists and clicks do."""
    return purpose_of(scope["method"], scope["path"]) == SCORING
