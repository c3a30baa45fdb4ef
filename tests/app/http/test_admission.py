"""Limit of concurrent requests, from which scoring is exempt, and the table `LIMITS` of all limits."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send

from app.auth.rate_limit import is_scoring
from app.http import thread_pools
from app.http.admission.limits import ADMITTED_REQUESTS, LIMITS, SLOT_SECONDS, AdmissionLimiter
from app.http.thread_pools import ThreadPool
from app.settings import ApiSettings
from tests.app.http.conftest import PATIENCE_SECONDS

READ, SCORE = ("GET", "/v1/jobs"), ("POST", "/v1/models/web/rank")


class CountingApp:
    """An application that counts concurrent requests; all but GET requests wait for `leave`."""

    def __init__(self) -> None:
        self.inside = self.max_inside = 0
        self.leave = asyncio.Event()

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Return from a GET request after three loop iterations, and from others when `leave` is set."""
        self.inside += 1
        self.max_inside = max(self.max_inside, self.inside)
        try:
            if scope["method"] == "GET":
                for _ in range(3):
                    await asyncio.sleep(0)
            else:
                await self.leave.wait()
        finally:
            self.inside -= 1


async def _send_request(app: Any, method: str, path: str) -> None:
    scope = {"type": "http", "method": method, "path": path}
    await app(scope, None, None)


def test_brief_requests_are_handled_few_at_a_time() -> None:
    """Of ten requests that arrive together, no more are handled at a time than are admitted."""

    async def run() -> int:
        counting = CountingApp()
        limiter = AdmissionLimiter(counting, is_scoring)
        await asyncio.gather(*(_send_request(limiter, *READ) for _ in range(10)))
        return counting.max_inside

    assert asyncio.run(run()) == ADMITTED_REQUESTS


def test_a_request_that_waits_delays_the_next_by_one_slot() -> None:
    """Five waiting requests are handled one slot after another; when they return, every slot is free."""

    async def run() -> int:
        counting = CountingApp()
        limiter = AdmissionLimiter(counting, is_scoring)
        waiting = [asyncio.create_task(_send_request(limiter, "POST", "/v1/jobs")) for _ in range(5)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while counting.inside < 5:
                await asyncio.sleep(SLOT_SECONDS)
        counting.leave.set()
        await asyncio.gather(*waiting)
        await _send_request(limiter, *READ)  # the slots are free again
        return counting.inside

    assert asyncio.run(run()) == 0


def test_scoring_does_not_queue() -> None:
    """Scoring is handled immediately while other requests have all slots and one waits."""

    async def run() -> int:
        counting = CountingApp()
        limiter = AdmissionLimiter(counting, is_scoring)
        others = [("POST", "/v1/jobs")] * (ADMITTED_REQUESTS + 1)
        tasks = [asyncio.create_task(_send_request(limiter, *other)) for other in others]
        tasks += [asyncio.create_task(_send_request(limiter, *SCORE)) for _ in range(3)]
        for _ in range(3):
            await asyncio.sleep(0)
        inside = counting.inside
        counting.leave.set()
        await asyncio.gather(*tasks)
        return inside

    assert asyncio.run(run()) == ADMITTED_REQUESTS + 3


def test_the_table_has_each_limit_once() -> None:
    """Every thread pool and every setting of rates, times and numbers of requests is a row."""
    names = [limit.name for limit in LIMITS]
    assert len(set(names)) == len(names)
    pools = [pool for pool in vars(thread_pools).values() if isinstance(pool, ThreadPool)]
    assert {f"threads: {pool.name}" for pool in pools} <= set(names)
    endings = (
        "_per_second",
        "_per_minute",
        "_per_caller",
        "connections",
        "_per_address",
        "body_idle_seconds",
    )
    assert {name for name in ApiSettings.model_fields if name.endswith(endings)} <= {
        limit.setting for limit in LIMITS
    }
