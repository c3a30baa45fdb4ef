"""Thread pools by purpose, so that a blocked pool cannot starve another.

FastAPI runs every function that is not async in one pool of 40 threads. A locked database or many exports
occupy all of them for seconds; scoring, and what precedes it, therefore has separate pools.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

Result = TypeVar("Result")


def retrieve_exception(done: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of a future, so that asyncio does not log it if nothing awaits the future."""
    if not done.cancelled():
        done.exception()


class ThreadPool:
    """A bounded thread pool for one purpose, per event loop.

    Attributes:
        n_threads: Largest number of concurrent calls of `run`, and of other methods; further calls queue.
        purpose: Work that runs in it.
    """

    def __init__(self, name: str, n_threads: int, purpose: str) -> None:
        self.name = name
        self.n_threads = n_threads
        self.purpose = purpose
        self._limiter: RunVar[CapacityLimiter] = RunVar(f"rankery.{name}")
        self._executor = ThreadPoolExecutor(n_threads, f"rankery.{name}")  # without a thread until it is used

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run a function in a thread and return its result."""
        return await to_thread.run_sync(work, limiter=self._limiter_of_loop())

    def start(self, work: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Start a function in a thread immediately, and return its future, which may be ignored.

        `run` starts its function several iterations of the event loop later.
        """
        running = asyncio.wrap_future(self.submit(work))
        running.add_done_callback(retrieve_exception)
        return running

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        """Start a function in a thread immediately; for callers outside the event loop."""
        return self._executor.submit(contextvars.copy_context().run, work)

    def _limiter_of_loop(self) -> CapacityLimiter:
        try:
            return self._limiter.get()
        except LookupError:
            limiter = CapacityLimiter(self.n_threads)
            self._limiter.set(limiter)
            return limiter


SCORING = ThreadPool("scoring", 16, "Scoring, which never waits for the database")
# A request may take ten seconds, and others are scored meanwhile.
EXPLANATIONS = ThreadPool("explanations", 2, "Explanations of scores")
MODELS = ThreadPool("models", 4, "Models read into memory, which an artifact store may delay")
LOOKUPS = ThreadPool("lookups", 8, "Lookups of known API keys, references to models, and interleaved lists")
# Mostly Python code, each thread of which delays the event loop.
EXPENSIVE = ThreadPool("expensive", 2, "Expensive reads, such as inspections of models and of storage")
EXPORTS = ThreadPool("exports", 1, "Exports and parity checks, which wait for the low-priority process")
UNKNOWN_CREDENTIALS = ThreadPool("credentials", 2, "Credentials that are not cached, mostly wrong ones")
CHECKS = ThreadPool("checks", 4, "Checks of `If-Match` before a commit, which other changes wait for")
AUDIT = ThreadPool("audit", 4, "Entries of the audit log that responses wait for")
EVENTS = ThreadPool("events", 2, "Events read for streams and lists")
WEBHOOKS = ThreadPool("webhooks", 2, "Deliveries to webhooks: claims and outcomes")
# Writes run one at a time anyway, and may wait long for a locked database.
AFTER_RESPONSE = ThreadPool("after response", 1, "Writes after the response, such as the last use of a key")

POOLS = (
    *(SCORING, EXPLANATIONS, MODELS, LOOKUPS, EXPENSIVE, EXPORTS),
    *(UNKNOWN_CREDENTIALS, CHECKS, AUDIT, EVENTS, WEBHOOKS, AFTER_RESPONSE),
)
