"""Many concurrent requests start few at a time; scoring requests pass."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send

from app.auth.turnstile import AT_ONCE, TURN_SECONDS, Turnstile

READ, SCORE = ("GET", "/v1/jobs"), ("POST", "/v1/models/web/rank")


class Crowd:
    """An application that says who is inside, and waits for what it is told to."""

    def __init__(self) -> None:
        self.inside = self.most_inside = 0
        self.leave = asyncio.Event()

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Stay for a moment, or until it is time to leave."""
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
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
    """Of ten that come at once no more are inside than have a turn."""

    async def run() -> int:
        crowd = Crowd()
        turnstile = Turnstile(crowd)
        await asyncio.gather(*(_send_request(turnstile, *READ) for _ in range(10)))
        return crowd.most_inside

    assert asyncio.run(run()) == AT_ONCE


def test_a_request_that_waits_delays_the_next_by_one_turn() -> None:
    """Five that wait for something are all inside after five turns; when they leave, nothing is left."""

    async def run() -> tuple[int, int]:
        crowd = Crowd()
        turnstile = Turnstile(crowd)
        waiting = [asyncio.create_task(_send_request(turnstile, "POST", "/v1/jobs")) for _ in range(5)]
        await asyncio.sleep(TURN_SECONDS * 20)
        inside = crowd.inside
        crowd.leave.set()
        await asyncio.gather(*waiting)
        await _send_request(turnstile, *READ)  # the turn is free again
        return inside, crowd.inside

    assert asyncio.run(run()) == (5, 0)


def test_scoring_does_not_queue() -> None:
    """It is inside at once while others have their turns, and one waits for its."""

    async def run() -> int:
        crowd = Crowd()
        turnstile = Turnstile(crowd)
        others = [("POST", "/v1/jobs")] * (AT_ONCE + 1)
        tasks = [asyncio.create_task(_send_request(turnstile, *other)) for other in others]
        tasks += [asyncio.create_task(_send_request(turnstile, *SCORE)) for _ in range(3)]
        for _ in range(3):
            await asyncio.sleep(0)
        inside = crowd.inside
        crowd.leave.set()
        await asyncio.gather(*tasks)
        return inside

    assert asyncio.run(run()) == AT_ONCE + 3
