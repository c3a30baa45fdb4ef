"""A pool process: forked from the worker, runs one job at a time."""

import ctypes
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow
import structlog

from core.jit import kernel_cache
from core.jobs import LANES
from core.store import Store
from core.telemetry import start_tracing
from core.warm_up import warm_up
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_jobs
from worker.settings import WorkerSettings

_PR_SET_PDEATHSIG = 1
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

        Kernels are compiled or loaded here and never in the parent: OpenMP does not survive a fork.
        """
        die_with_parent(self._parent_pid)
        os.nice(_NICENESS)
        self._store = Store.open(self._settings)
        self._stop_tracing = start_tracing("rankery-worker")
        pyarrow.set_cpu_count(self._settings.threads_per_job)
        with _leaving_when(self._stop), _alone_in(kernel_cache()):
            warm_up()
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


def die_with_parent(parent_pid: int) -> None:
    """Have Linux kill this process when the process that forked it dies.

    Celery asks for the same, but leaves the moment between the fork and the request open.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)


@contextmanager
def _leaving_when(stop: StopFlag) -> Iterator[None]:
    """Exit at once on shutdown during a first compilation, which would take too long."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_STOP_POLL_SECONDS):
            if stop.is_set():
                os._exit(0)

    watcher = threading.Thread(target=watch, name="stop-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


@contextmanager
def _alone_in(cache_folder: Path) -> Iterator[None]:
    """Lock numba's cache during compilation, because concurrent writes race."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    with (cache_folder / ".warming").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
