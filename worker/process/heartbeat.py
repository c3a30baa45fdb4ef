"""Heartbeat thread of a running job: renew the lease, detect interruptions."""

import contextvars
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType

import structlog

from core.errors import LeaseLost
from worker.job.limits import LimitReached
from worker.job.run import JobRun, WorkerStopping
from worker.process.shutdown import StopFlag

_LOG = structlog.stdlib.get_logger(__name__)
_LOOK_SECONDS = 0.25
_END_SECONDS = 2.0

Settle = Callable[[JobRun, Exception], str]


class Heartbeat:
    """A thread that renews a job's lease until the block ends.

    It tells the job that its user wants it to stop, that it has reached a limit or that the worker shuts
    down. A job that does not answer in time is settled from here, and the process ends with it: the worker
    replaces it.

    It works while kernels compile and run because those let go of Python's lock.

    Args:
        run: The job.
        stop: Set when the worker shuts down.
        interval_seconds: Time from one renewal to the next.
        settle: Writes how the job ends, for a job that does not do so itself.
    """

    def __init__(self, run: JobRun, stop: StopFlag, interval_seconds: float, settle: Settle) -> None:
        self._run = run
        self._stop = stop
        self._interval_seconds = interval_seconds
        self._settle = settle
        self._renewed_at = time.monotonic()
        self._ended = threading.Event()
        # Its log lines are the job's: they carry what is bound here.
        beat = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=beat, args=(self._beat,), name=f"heartbeat-{run.id}", daemon=True
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
        while not self._ended.wait(min(_LOOK_SECONDS, self._interval_seconds)):
            try:
                self._look()
            except LeaseLost as error:
                self._run.interrupt(error)
            except Exception:  # noqa: BLE001 - a missed beat must not end the heartbeat
                # The database may be away for a moment; the lease has room for several misses.
                _LOG.warning("job.heartbeat_missed", exc_info=True)

    def _look(self) -> None:
        ignored = self._run.ignored_interruption()
        if ignored is not None:
            self._give_up(ignored)
            return
        if self._stop.is_set():
            self._run.interrupt(WorkerStopping())
        try:
            self._run.bounds.check()
        except LimitReached as reached:
            self._run.interrupt(reached)
        if time.monotonic() - self._renewed_at >= self._interval_seconds:
            self._run.renew()
            self._renewed_at = time.monotonic()
        else:
            self._run.look()

    def _give_up(self, interruption: Exception) -> None:
        ending = self._settle(self._run, interruption)
        if ending == "lost" and self._ended.wait(_END_SECONDS):
            return  # it came to its end at the same moment
        _LOG.warning(f"job.{ending}", reason="it did not stop by itself in time")
        os._exit(1)
