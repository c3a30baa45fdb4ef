"""Thread pools by purpose, so that a blocked pool cannot starve another.

FastAPI runs every function that is not async in one pool of 40 threads. A locked database or many exports
occupy all of them for seconds; scoring, and what precedes it, therefore has separate pools.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

Result = TypeVar("Result")


class ThreadPool:
    """A bounded thread pool for one purpose, per event loop.

    Args:
        name: Of the purpose.
        n_threads: Pieces of work at a time; further ones wait for their turn.
    """

    def __init__(self, name: str, n_threads: int) -> None:
        self._n_threads = n_threads
        self._limiter: RunVar[CapacityLimiter] = RunVar(f"rankery.{name}")

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run a function in a thread and return its result."""
        return await to_thread.run_sync(work, limiter=self._of_this_loop())

    def _of_this_loop(self) -> CapacityLimiter:
        try:
            return self._limiter.get()
        except LookupError:
            limiter = CapacityLimiter(self._n_threads)
            self._limiter.set(limiter)
            return limiter


# Documents scored: work of the processor alone, which never waits for the database.
SCORING = ThreadPool("scoring", 16)
# Scores explained: a request may take ten seconds, and others are scored meanwhile.
EXPLANATIONS = ThreadPool("explanations", 2)
# Models read into memory before they score, which an artifact store may delay.
MODELS = ThreadPool("models", 4)
# Keys that were good before, and references to models: reads of the database by their keys.
LOOKUPS = ThreadPool("lookups", 8)
# Reads of what is inside a model. Most of it is Python, and each thread of it delays the event loop.
EXPENSIVE = ThreadPool("expensive", 2)
# Exports: each thread waits for the one process that makes them.
EXPORTS = ThreadPool("exports", 1)
# Credentials that were never seen, mostly wrong ones: their crowd waits for itself.
STRANGERS = ThreadPool("strangers", 2)
# Entries of the audit that answers wait for: they take turns in the database.
AUDIT = ThreadPool("audit", 4)
# Events read for streams and lists, and what they are waiting for.
EVENTS = ThreadPool("events", 2)
# Deliveries to webhooks: claimed, and recorded when they have ended.
WEBHOOKS = ThreadPool("webhooks", 2)
# What is written after a request was answered, such as the use of its key: writes that wait for each other as
# it is, and for a locked database longer than those who would have the thread.
NOTES = ThreadPool("notes", 1)
