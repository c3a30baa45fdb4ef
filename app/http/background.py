"""Tasks that run as long as the application."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def running(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines during the block, and wait for the end of those that are cancelled after it."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
