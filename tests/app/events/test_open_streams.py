"""The limit of open streams."""

import asyncio

from starlette.types import Message

from app.events.feed import EventFeed
from app.events.stream import EventStream, Selection
from core.store import Store


def test_streams_that_open_at_the_same_time_are_counted(store: Store) -> None:
    """A stream counts from its request on, so that a burst of requests cannot exceed the limit."""

    async def statuses() -> list[int]:
        status_codes: list[int] = []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                status_codes.append(message["status"])

        async def receive() -> Message:
            await asyncio.Event().wait()
            return {}

        async def is_authorized() -> bool:
            return True

        events = EventFeed(store, 2, 2)
        opened = [EventStream(events, store, Selection(), None, "caller", is_authorized) for _ in range(5)]
        tasks = [asyncio.create_task(each({"type": "http"}, receive, send)) for each in opened]
        while len(status_codes) < len(opened):
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert events.refusal("caller") is None
        return sorted(status_codes)

    assert asyncio.run(statuses()) == [200, 200, 429, 429, 429]
