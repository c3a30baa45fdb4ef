"""Keeps a running job's lease alive beside the work itself."""

import threading
import time
from types import TracebackType

import structlog

from worker.jobs import JobRun
from worker.stopping import StopFlag

_LOG = structlog.stdlib.get_logger(__name__)
_STOP_POLL_SECONDS = 0.25


class Heartbeat:
    """A thread that renews a job's lease until the block ends, and gives the job back on a shutdown.

    It works while kernels compile and run because those let go of Python's lock.
    """

    def __init__(self, run: JobRun, stop: StopFlag, interval_seconds: float) -> None:
        self._run = run
        self._stop = stop
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{run.id}", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        renewed_at = time.monotonic()
        while not self._ended.wait(min(_STOP_POLL_SECONDS, self._interval_seconds)):
            try:
                if self._stop.is_set():
                    self._run.release()
                    return
                if time.monotonic() - renewed_at >= self._interval_seconds:
                    self._run.renew()
                    renewed_at = time.monotonic()
            except Exception:  # noqa: BLE001 - a missed beat must not end the heartbeat
                # The database may be away for a moment; the lease has room for several misses.
                _LOG.warning("job.heartbeat_missed", job_id=self._run.id, exc_info=True)
