"""Limits on expensive reads, such as exports, downloads, model trees and the measurement of storage."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated, Any, BinaryIO

from fastapi import Depends, Request
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.http.caller import rate_limit_key
from app.http.services import registered
from app.http.thread_pools import EXPENSIVE, Result, ThreadPool, retrieve_exception
from core.store.visibility import visible_projects

_RETRY_SECONDS = 1


class ExpensiveReads:
    """Limiter of expensive reads: few threads, one computation shared by equal concurrent requests.

    Create and use it within one event loop.

    Args:
        max_per_caller: Largest number of running and waiting reads of one caller. A request that joins a read
            of an equal request does not count.
    """

    def __init__(self, max_per_caller: int) -> None:
        self._max_per_caller = max_per_caller
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}
        self._reads_by_caller: Counter[str] = Counter()

    async def answer(
        self, caller: str, key: Hashable, work: Callable[[], Result], pool: ThreadPool = EXPENSIVE
    ) -> Result:
        """Run a computation, or join one with the same key that is under way.

        Args:
            key: Key of the computation; concurrent requests with equal keys share one computation.

        Raises:
            HTTPException: 429 where the caller has too many running and waiting reads.
        """
        key = (visible_projects(), key)  # a key bound to projects gets a different result
        task = self._under_way.get(key)
        if task is None:
            self._acquire_slot(caller)
            task = asyncio.create_task(self._run(caller, key, work, pool))
            task.add_done_callback(retrieve_exception)
            self._under_way[key] = task
        # Shield the task, which other requests await: a cancelled request must not cancel it.
        result: Result = await asyncio.shield(task)
        return result

    @contextlib.contextmanager
    def slot(self, caller: str) -> Iterator[None]:
        """Count one read for a caller until the block ends.

        Raises:
            HTTPException: 429 where the caller has too many running and waiting reads.
        """
        self._acquire_slot(caller)
        try:
            yield
        finally:
            self._release_slot(caller)

    async def _run(self, caller: str, key: Hashable, work: Callable[[], Result], pool: ThreadPool) -> Result:
        try:
            return await pool.run(work)
        finally:
            del self._under_way[key]
            self._release_slot(caller)

    def _acquire_slot(self, caller: str) -> None:
        if self._reads_by_caller[caller] >= self._max_per_caller:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"at most {self._max_per_caller} exports, downloads and inspections of a caller can run at"
                " the same time; try again when one has ended",
                {"Retry-After": str(_RETRY_SECONDS)},
            )
        self._reads_by_caller[caller] += 1

    def _release_slot(self, caller: str) -> None:
        self._reads_by_caller[caller] -= 1
        if not self._reads_by_caller[caller]:
            del self._reads_by_caller[caller]


@dataclass(frozen=True)
class CallersReads:
    """The expensive reads of one caller."""

    reads: ExpensiveReads
    caller: str

    async def answer(self, key: Hashable, work: Callable[[], Result], pool: ThreadPool = EXPENSIVE) -> Result:
        """Run a computation; see `ExpensiveReads.answer`."""
        return await self.reads.answer(self.caller, key, work, pool)


async def _reads_of_caller(request: Request) -> CallersReads:
    return CallersReads(registered(request.app, ExpensiveReads), rate_limit_key(request.scope))


UseExpensive = Annotated[CallersReads, Depends(_reads_of_caller)]


class Download(StreamingResponse):
    """A streamed file download, limited per caller.

    Args:
        source: File that the blocks are read from, closed at the end.
        filename: Name under which browsers save the file.
        check: Called before the first block, within the limit; its exception is the answer.
    """

    def __init__(
        self,
        blocks: Iterator[str] | Iterator[bytes],
        source: BinaryIO | None,
        media_type: str,
        filename: str,
        *,
        status: int = HTTPStatus.OK,
        headers: Mapping[str, str] = MappingProxyType({}),
        check: Callable[[], object] | None = None,
    ) -> None:
        disposition = {"Content-Disposition": f'attachment; filename="{filename}"'}
        super().__init__(blocks, status, {**disposition, **headers}, media_type)
        self._source = source
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response.

        Raises:
            HTTPException: 429 where the caller has too many running and waiting reads.
        """
        if scope["method"] == "HEAD":
            self.body_iterator = iterate_in_threadpool(())
        reads = registered(scope["app"], ExpensiveReads)
        with self._source or contextlib.nullcontext(), reads.slot(rate_limit_key(scope)):
            if self._check is not None:
                await run_in_threadpool(self._check)
            await super().__call__(scope, receive, send)
