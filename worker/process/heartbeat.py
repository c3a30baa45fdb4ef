"""Heartbeat thread of a running job: renew the lease, detect interruptions."""

import contextvars
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType

import structlog

from core.errors import LeaseLost
from worker.job.lease import WorkerStopping
from worker.job.limits import LimitReached
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag

_LOG = structlog.stdlib.get_logger(__name__)
_POLL_SECONDS = 0.25
_END_SECONDS = 2.0

RecordOutcome = Callable[[JobRun, Exception], str]


class Heartbeat:
    """A thread that renews a job's lease until the block ends.

    The thread interrupts a job that is cancelled or reaches a limit, or whose worker shuts down. If the job
    ignores the interruption for longer than its grace period, the thread records the outcome and ends the
    process, which the worker replaces.

    The thread runs while kernels compile and run, because these release Python's global interpreter lock.

    Args:
        stop: Set when the worker shuts down.
        interval_seconds: Time from one renewal to the next.
        record_outcome: Records the outcome of a job that ignores an interruption.
    """

    def __init__(
        self, run: JobRun, stop: StopFlag, interval_seconds: float, record_outcome: RecordOutcome
    ) -> None:
        self._run = run
        self._stop = stop
        self._interval_seconds = interval_seconds
        self._record_outcome = record_outcome
        self._renewed_at = time.monotonic()
        self._ended = threading.Event()
        # Copy the context, so that the thread's log lines have the job's context variables.
        run_in_context = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=run_in_context, args=(self._beat,), name=f"heartbeat-{run.id}", daemon=True
        )

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(min(_POLL_SECONDS, self._interval_seconds)):
            try:
                self._poll()
            except LeaseLost as error:
                self._run.lease.interrupt(error)
            except Exception:  # noqa: BLE001 - a missed beat must not end the heartbeat
                # The database may be unavailable for a moment; the lease outlasts several misses.
                _LOG.warning("job.heartbeat_missed", exc_info=True)

    def _poll(self) -> None:
        ignored = self._run.lease.ignored_interruption()
        if ignored is not None:
            self._give_up(ignored)
            return
        if self._stop.is_set():
            self._run.lease.interrupt(WorkerStopping())
        try:
            self._run.bounds.check()
        except LimitReached as reached:
            self._run.lease.interrupt(reached)
        if time.monotonic() - self._renewed_at >= self._interval_seconds:
            self._run.lease.renew()
            self._renewed_at = time.monotonic()
        else:
            self._run.lease.poll_cancellation()

    def _give_up(self, interruption: Exception) -> None:
        outcome = self._record_outcome(self._run, interruption)
        if outcome == "lost" and self._ended.wait(_END_SECONDS):
            return  # the job ended at the same moment
        _LOG.warning(f"job.{outcome}", reason="it ignored the interruption for longer than its grace period")
        os._exit(1)
