"""Pool process, which is forked from the worker and runs one job at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow
import structlog

from core.jobs import LANES
from core.polling import polling
from core.store import Store
from core.subprocesses import die_with_parent
from core.telemetry import start_tracing
from core.warm_up import missing_parts, warm_up
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_jobs
from worker.settings import WorkerSettings

_STOP_POLL_SECONDS = 0.1
# Give the API's requests priority over jobs on a shared machine.
_NICENESS = 10
_LOG = structlog.stdlib.get_logger(__name__)


class PoolProcess:
    """State of a pool process: store, worker name and inherited stop flag.

    Args:
        stop: Set when the worker shuts down.
        worker: Worker name, to which the id of the pool process is added.
    """

    def __init__(self, settings: WorkerSettings, stop: StopFlag, worker: str, lane: str) -> None:
        self._settings = settings
        self._stop = stop
        self._worker = worker
        self._kinds = LANES[lane]
        self._parent_pid = os.getpid()
        self._store: Store | None = None
        self._stop_tracing: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Prepare this process for jobs, right after the fork.

        The kernels were compiled before the fork, in subprocesses of the parent, and jobs load them from the
        cache. Kernels that a read-only cache lacks are compiled in this process. The parent itself never
        compiles kernels: OpenMP does not survive a fork.
        """
        die_with_parent(self._parent_pid)
        os.nice(_NICENESS)
        self._store = Store.open(self._settings)
        self._stop_tracing = start_tracing("rankery-worker")
        pyarrow.set_cpu_count(self._settings.threads_per_job)
        if self._settings.compile_ahead:
            with _exit_on_stop(self._stop):
                warm_up(missing_parts())
        _LOG.info("worker.ready", worker=self._process_name)

    def run_jobs(self, job_id: str) -> None:
        """Run queued jobs until none is left; this is the body of the Celery task.

        The next job in the queue may differ from the job that the wake-up was sent for.
        """
        if self._store is None:
            raise RuntimeError("jobs run in pool processes only; use the prefork pool")
        run_jobs(self._store, self._settings, self._stop, self._process_name, self._kinds)

    def flush_traces(self) -> None:
        """Flush the trace spans of the last jobs when this process ends."""
        self._stop_tracing()

    @property
    def _process_name(self) -> str:
        return f"{self._worker}/{os.getpid()}"


@contextmanager
def _exit_on_stop(stop: StopFlag) -> Iterator[None]:
    """Exit immediately on shutdown while kernels are compiled."""

    def exit_if_set() -> None:
        if stop.is_set():
            os._exit(0)

    with polling(exit_if_set, _STOP_POLL_SECONDS, "stop-watch"):
        yield
