"""Compile missing kernels before a worker forks its lanes, and report the progress."""

import os
import socket
import time
from collections.abc import Collection

import structlog

from core.errors import RankeryError
from core.store import Store
from core.warm_up import Progress, compile_kernels, missing_parts
from core.worker_health import COMPILING, WorkerHealth, WorkerHealthFile
from worker.process.shutdown import StopFlag
from worker.settings import WorkerSettings

_REPORT_SECONDS = 2.0
_LOG_SECONDS = 10.0
_SILENT_SECONDS = 24.0
_LOG = structlog.stdlib.get_logger(__name__)


def compile_ahead(settings: WorkerSettings, lanes: Collection[str], stop: StopFlag) -> None:
    """Compile the kernels that the cache lacks, in subprocesses that free their memory at exit.

    Without `compile_ahead` this does nothing: jobs compile the kernels. The progress is written to the log,
    the health files and the database. No database connection is open when lanes are forked.

    Raises:
        KernelsNotReady: A kernel cannot be compiled.
    """
    if not settings.compile_ahead or not missing_parts():
        return
    started_at, report = time.monotonic(), CompilationReport(settings, lanes)
    try:
        compile_kernels(report=report, stopped=stop.is_set)
    finally:
        report.remove()
    if not missing_parts():  # the worker is not stopping, and the cache is not read-only
        _LOG.info("kernels.compiled", seconds=round(time.monotonic() - started_at, 1))


class CompilationReport:
    """Progress of the compilation, reported to the log, the health files and the database."""

    def __init__(self, settings: WorkerSettings, lanes: Collection[str]) -> None:
        self._settings = settings
        self._names = {lane: f"{socket.gethostname()}:{os.getpid()}-{lane}" for lane in lanes}
        self._logged_at = self._reported_at = -_LOG_SECONDS

    def __call__(self, progress: Progress) -> None:
        """Log the progress, and write it to the health files and the database."""
        now = time.monotonic()
        if now - self._logged_at >= _LOG_SECONDS:
            self._logged_at = now
            _LOG.info("kernels.compiling", compiled=progress.compiled, parts=progress.parts)
        if now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            health = WorkerHealth(COMPILING, compiled=progress.compiled, parts=progress.parts)
            for lane in self._names:
                WorkerHealthFile(self._settings.data_dir, lane).write(health)
            self._store(progress)

    def remove(self) -> None:
        """Remove the entries of the lanes from the database; from now on the lanes report themselves."""
        self._store(None)

    def _store(self, progress: Progress | None) -> None:
        try:
            store = Store.open(self._settings)
            try:
                with store.begin() as tx:
                    for lane, name in self._names.items():
                        if progress is None:
                            tx.workers.remove(name)
                        else:
                            tx.workers.report(name, lane, 0, _SILENT_SECONDS, str(progress))
            finally:
                store.close()
        except RankeryError:
            _LOG.warning("kernels.progress_not_stored", exc_info=True)
