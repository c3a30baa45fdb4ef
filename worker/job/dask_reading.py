"""Read the files of a dataset on Dask workers.

Dask reassigns the file of a worker that dies. A task polls for cancellation
while it reads, and ends soon after its job.
"""

import asyncio
import math
import queue
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core import errors
from core.data.part_files.part import Part
from core.store import StoreSettings
from core.store.data_files import DataFiles
from worker.job.part_reading import OnFraction, PartTask, TakePart

if TYPE_CHECKING:
    from distributed import Client, Future

_POLL_SECONDS = 0.2
_REPORT_SECONDS = 0.5
_WORKERS_SECONDS = 1.0  # interval of counting the workers
_ANSWER_SECONDS = 5.0
_PATIENCE_SECONDS = 30.0
_RETRIES = 2
_LOST = "the Dask scheduler was lost"


@dataclass(frozen=True)
class Refusal:
    """Problems of a file as plain fields, since a pickled exception would lose them."""

    problems: tuple[errors.DatasetProblem, ...] = ()
    more: bool = False
    causes: tuple[errors.ProblemCause, ...] = ()
    options: tuple[errors.InputProblem, ...] = ()

    def raise_error(self) -> None:
        """Raise the exception of these problems.

        Raises:
            DatasetError: The file cannot be read.
            InvalidInput: The options are invalid for the file.
        """
        if self.options:
            raise errors.InvalidInput(*self.options)
        raise errors.DatasetError(*self.problems, more=self.more, causes=self.causes)


class _JobEnded(Exception):
    """The job of a task has ended."""


def read_on_dask_worker(task: PartTask, index: int, topic: str) -> Part | Refusal:
    """Read a file in a Dask worker, from the data roots in that worker's environment.

    Args:
        index: Index of the file in the list of all files.

    Raises:
        StoreUnavailable: The storage of the file's bucket does not answer; Dask retries the task.
    """
    from distributed import Status, get_worker

    settings = StoreSettings()
    dask_worker = get_worker()
    key = dask_worker.get_current_task()
    reported_at = -math.inf

    def report(done: int, total: int) -> None:
        nonlocal reported_at
        state = dask_worker.state.tasks.get(key)
        is_ending = dask_worker.status in (Status.closing, Status.closed, Status.failed)
        if state is None or state.state == "cancelled" or is_ending:
            raise _JobEnded
        if time.monotonic() - reported_at >= _REPORT_SECONDS:
            dask_worker.log_event(topic, {"index": index, "fraction": done / total})
            reported_at = time.monotonic()

    files = DataFiles(settings.data_roots, settings.storage_patience_seconds)
    try:
        return task.read(files, dask_worker.state.nthreads, report)
    except errors.DatasetError as error:
        return Refusal(error.problems, error.more, error.causes)
    except errors.InvalidInput as error:
        return Refusal(options=tuple(error.problems))


class DaskReader:
    """Reader of files on Dask workers, one file per worker at a time.

    Args:
        check: Raises when the job is interrupted; called several times a second.
        patience_seconds: Timeout while no worker is connected; a cluster may be starting.
    """

    def __init__(
        self, client: "Client", check: Callable[[], None], patience_seconds: float = _PATIENCE_SECONDS
    ) -> None:
        self._client = client
        self._check = check
        self._patience_seconds = patience_seconds
        self._topic = f"rankery-files-{secrets.token_hex(8)}"
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._running: dict[Future[Any], int] = {}
        self._fractions: queue.SimpleQueue[tuple[int, float]] = queue.SimpleQueue()
        self._workers = 0
        self._counted_at = -math.inf
        self._connected_at = time.monotonic()

    def read(self, tasks: Sequence[PartTask], take: TakePart, on_fraction: OnFraction) -> None:
        """Read all files; pass each to `take` as soon as it is read."""
        remaining = list(enumerate(tasks))[::-1]
        try:
            self._client.subscribe_topic(self._topic, self._on_event)
            while remaining or self._running:
                self._count_workers()
                while remaining and len(self._running) < self._workers:
                    self._submit(*remaining.pop())
                future = self._next_ended(on_fraction)
                if future is not None:
                    index = self._running.pop(future)
                    take(index, self._part(future, tasks[index]))
                    future.release()
                    on_fraction(index, 1.0)
        finally:
            self._cancel_remaining()

    def _submit(self, index: int, task: PartTask) -> None:
        future = self._client.submit(
            read_on_dask_worker, task, index, self._topic, pure=False, retries=_RETRIES
        )
        self._running[future] = index
        future.add_done_callback(self._ended.put)

    def _count_workers(self) -> None:
        """Count the workers, every second."""
        if time.monotonic() - self._counted_at < _WORKERS_SECONDS:
            return
        try:
            self._workers = len(self._client.nthreads(callback_timeout=_ANSWER_SECONDS))
        except TimeoutError:  # a suspended scheduler keeps its connections
            self._workers = 0
        except OSError as error:
            raise errors.ClusterUnavailable(_LOST) from error
        self._counted_at = time.monotonic()
        if self._workers:
            self._connected_at = self._counted_at
        elif self._counted_at - self._connected_at > self._patience_seconds:
            raise errors.ClusterUnavailable("no Dask worker is connected to the scheduler")

    def _next_ended(self, on_fraction: OnFraction) -> "Future[Any] | None":
        """Wait briefly for a task to end, and report the progress of all."""
        self._check()
        while not self._fractions.empty():
            on_fraction(*self._fractions.get())
        try:
            return self._ended.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            return None

    def _on_event(self, event: tuple[float, dict[str, Any]]) -> None:
        self._fractions.put((event[1]["index"], event[1]["fraction"]))

    def _part(self, future: "Future[Any]", task: PartTask) -> Part:
        from distributed import KilledWorker

        if future.status not in ("finished", "error"):
            raise errors.ClusterUnavailable(_LOST)
        try:
            result = self._fetch_result(future)
        except KilledWorker as error:
            raise errors.DatasetError.at(
                "expected a file that a Dask worker can read, but several workers ended while reading it,"
                " perhaps because of insufficient memory",
                file=task.name,
            ) from error
        except (CancelledError, OSError) as error:
            raise errors.ClusterUnavailable(_LOST) from error
        if isinstance(result, Refusal):
            result.raise_error()
        part: Part = result
        return part

    def _fetch_result(self, future: "Future[Any]") -> Any:
        """Fetch the result of a task, and check for interruptions of the job meanwhile."""
        loop: Any = self._client.loop
        gathering: Any = self._client.gather(future, asynchronous=True)
        pending = asyncio.run_coroutine_threadsafe(gathering, loop.asyncio_loop)
        try:
            while not wait([pending], _POLL_SECONDS).done:
                self._check()
                self._count_workers()
        except BaseException:
            pending.cancel()
            raise
        return pending.result()

    def _cancel_remaining(self) -> None:
        """Cancel the remaining tasks without waiting for them."""
        if self._client.status == "running":
            self._client.unsubscribe_topic(self._topic)
        for future in self._running:
            future.release()
