"""Run one worker process per lane, so that short jobs do not wait for trainings."""

import os
import signal
import sys
import tempfile
import time

import structlog

from core.jobs import LANES
from core.subprocesses import die_with_parent
from worker.application import prepare, run_lane
from worker.process.compilation import compile_ahead
from worker.process.shutdown import StopFlag
from worker.settings import WorkerSettings

_WATCH_SECONDS = 0.1
# Shortest time between two starts of a lane that keeps ending.
_RESTART_SECONDS = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOG = structlog.stdlib.get_logger(__name__)


def run(settings: WorkerSettings, lane: str | None = None) -> None:
    """Run a worker until SIGINT or SIGTERM; running jobs return to the queue.

    Args:
        lane: Lane to run in this process; None: all lanes, each in a separate process.

    Raises:
        StoreUnavailable: The database or the artifact storage cannot be used.
        KernelsNotReady: A kernel cannot be compiled.
    """
    prepare(settings)
    stop = StopFlag()
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in _SIGNALS}
    compile_ahead(settings, LANES if lane is None else [lane], stop)
    if lane is not None:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if not stop.is_set():
            run_lane(settings, lane)
        return
    lanes = [] if stop.is_set() else [_LaneProcess(settings, name) for name in LANES]
    while not stop.is_set():
        for process in lanes:
            process.restart_if_ended()
        time.sleep(_WATCH_SECONDS)
    for process in lanes:
        process.terminate()
    for process in lanes:
        process.wait()


class _LaneProcess:
    """Process of one lane, which dies with its parent and ignores the terminal's Ctrl-C.

    The process is forked rather than spawned, so that it shares the imported modules and starts immediately.
    """

    def __init__(self, settings: WorkerSettings, lane: str) -> None:
        self._settings = settings
        self._lane = lane
        self._start()

    def restart_if_ended(self) -> None:
        """Restart the process if it has ended."""
        ended, status = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            return
        code = os.waitstatus_to_exitcode(status)
        _LOG.error("lane.ended", lane=self._lane, exit_code=code)
        time.sleep(max(0.0, _RESTART_SECONDS - (time.monotonic() - self._started_at)))
        self._start()

    def terminate(self) -> None:
        """Ask the process to end."""
        os.kill(self._pid, signal.SIGTERM)

    def wait(self) -> None:
        """Wait until the process has ended."""
        os.waitpid(self._pid, 0)

    def _start(self) -> None:
        self._started_at = time.monotonic()
        parent_pid = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os._exit(_lane_process(self._settings, self._lane, parent_pid))


def _lane_process(settings: WorkerSettings, lane: str, parent_pid: int) -> int:
    """Run a lane in a forked process; return its exit code."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    die_with_parent(parent_pid)
    try:
        # Celery's temporary files go here. The process ends by `os._exit`, which removes none of them.
        with tempfile.TemporaryDirectory(prefix="rankery-") as folder:
            tempfile.tempdir = folder
            run_lane(settings, lane)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except Exception:  # noqa: BLE001 - it is logged, and the lane is forked again
        _LOG.exception("lane.failed", lane=lane)
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
