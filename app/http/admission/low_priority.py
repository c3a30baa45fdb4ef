"""Run work that is mostly Python in a separate process of low priority.

A thread that runs Python code takes the interpreter lock (GIL) from the event loop, and with it half of the
time that scoring needs. Work that takes seconds runs in one child process of a low scheduling priority.
"""

import atexit
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import BinaryIO, TypeVar, cast

from core.errors import RankeryError
from core.logs import capture_output
from core.process_start import leave_out_unused
from core.store import Store, StoreSettings
from core.store.visibility import limited_to, visible_projects
from core.subprocesses import module_command, module_environment

_NICE = 19

Result = TypeVar("Result")


class LowPriorityProcess:
    """Run functions one after another in a child process, which is started for the first function.

    The child process ends when its standard input is closed, however this process ends. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, settings: StoreSettings, work: Callable[[Store], Result]) -> Result:
        """Run a function in the child process, limited to the caller's projects, and return its result.

        Args:
            settings: Settings of the store that is passed to the function.
            work: A picklable function, such as a function of a module or a `functools.partial` of one.

        Raises:
            RankeryError: The function raised it.
            RuntimeError: The function raised another error, or the child process ended.
        """
        with self._lock:
            try:
                requests, answers = self._running_pipes()
                pickle.dump((settings, visible_projects(), work), requests)
                requests.flush()
                outcome = pickle.load(answers)  # noqa: S301 - our own process wrote it
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._stop()
                raise RuntimeError("the low-priority process has ended") from error
        if isinstance(outcome, RankeryError):
            raise outcome
        if isinstance(outcome, _Failure):
            raise RuntimeError(outcome.trace)
        result: Result = outcome
        return result

    def start(self) -> None:
        """Start the process early, so that the first function does not wait for imports.

        No caller waits for these imports, so they run at low priority, too.
        """
        with self._lock:
            self._running_pipes(_NICE)

    def stop(self) -> None:
        """End the process; further work starts another one."""
        with self._lock:
            self._stop()

    def _running_pipes(self, niceness: int = 0) -> tuple[BinaryIO, BinaryIO]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = _start_process(niceness)
        return cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()  # it has no state to save
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # buffered bytes are lost
                if pipe is not None:
                    pipe.close()


# Shared by all applications of this process: its start takes seconds, its libraries 200 MB.
LOW_PRIORITY = LowPriorityProcess()
atexit.register(LOW_PRIORITY.stop)


class _Failure:
    """An unexpected error of the child process, to raise in this process."""

    def __init__(self, trace: str) -> None:
        self.trace = trace


def _start_process(niceness: int) -> subprocess.Popen[bytes]:
    module = module_command("app.http.admission.low_priority")
    command = ["/usr/bin/env", "nice", "-n", str(niceness), *module]
    return subprocess.Popen(  # noqa: S603 - no input is in it
        command, env=module_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Run the functions that the parent process sends until it closes the pipe."""
    store, open_settings = None, None
    while True:
        try:
            settings, allowed, work = pickle.load(requests)  # noqa: S301 - the process that started this one wrote it
        except EOFError:
            return
        try:
            if store is None or settings != open_settings:
                if store is not None:
                    store.close()
                store, open_settings = Store.open(settings), settings
            with limited_to(allowed):
                outcome = work(store)
        except RankeryError as error:
            outcome = error
        except Exception:  # noqa: BLE001 - the parent process raises it
            outcome = _Failure(traceback.format_exc())
        pickle.dump(outcome, answers)
        answers.flush()


def main() -> None:
    """Run the functions of the parent process; the entry point of the child process."""
    capture_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is meant for the parent
    # Lower the priority only after the imports, since a caller may wait for them.
    os.nice(_NICE - os.nice(0))
    # Send answers through a copy of standard output, since libraries write to standard output, too.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)
    # Skip the shutdown of Python: it takes 0.2 s, for which a process of low priority waits minutes on a busy
    # machine. There is no state to save.
    os._exit(0)


if __name__ == "__main__":
    leave_out_unused()
    # Import by module name, so that pickled classes do not belong to `__main__`.
    from app.http.admission.low_priority import main as serve

    serve()
