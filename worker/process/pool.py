"""A pool process: forked from the worker, runs one job at a time."""

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
from core.warm_up import missing, warm_up
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_jobs
from worker.settings import WorkerSettings

_STOP_POLL_SECONDS = 0.1
# On a machine that it shares with the API, a training leaves the processors to whoever waits for an answer.
_NICENESS = 10
_LOG = structlog.stdlib.get_logger(__name__)


class PoolProcess:
    """A pool process with its store and inherited stop flag.

    Args:
        settings: The worker's settings.
        stop: Set when the worker shuts down.
        worker: What jobs call this worker, followed by the pool process's own id.
        lane: The jobs that it carries out.
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

        The kernels were compiled before the fork, and jobs load those that they use from the cache. What a
        cache lacks that can only be read is compiled here and never in the parent: OpenMP does not survive a
        fork.
        """
        die_with_parent(self._parent_pid)
        os.nice(_NICENESS)
        self._store = Store.open(self._settings)
        self._stop_tracing = start_tracing("rankery-worker")
        pyarrow.set_cpu_count(self._settings.threads_per_job)
        if self._settings.compile_ahead:
            with _leaving_when(self._stop):
                warm_up(missing())
        _LOG.info("worker.ready", worker=self._process)

    def run_jobs(self, job_id: str) -> None:
        """Run the waiting jobs; the body of the Celery task.

        The job that a wake-up was sent for need not be the one whose turn it is.
        """
        if self._store is None:
            raise RuntimeError("jobs run in pool processes only; use the prefork pool")
        run_jobs(self._store, self._settings, self._stop, self._process, self._kinds)

    def leave(self) -> None:
        """Send what is recorded of the last jobs, when this process ends."""
        self._stop_tracing()

    @property
    def _process(self) -> str:
        return f"{self._worker}/{os.getpid()}"


@contextmanager
def _leaving_when(stop: StopFlag) -> Iterator[None]:
    """Exit at once on shutdown while kernels are loaded, or compiled where they cannot be kept."""

    def exit_if_set() -> None:
        if stop.is_set():
            os._exit(0)

    with polling(exit_if_set, _STOP_POLL_SECONDS, "stop-watch"):
        yield
