"""A process of low priority for work that is mostly Python.

A thread that runs Python takes the interpreter from the event loop, and with it half of the time that scoring
needs. What takes seconds of it runs in one process beside, of a low scheduling priority.
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
from core.store import Store, StoreSettings
from core.store.visibility import limited_to, projects
from core.subprocesses import module_command, module_environment
from core.unused_packages import leave_out_unused

_NICE = 19

Result = TypeVar("Result")


class LowPriorityProcess:
    """Run one piece of work after the other in a process that starts with the first one.

    It ends when its input does, however this process ends. Safe between threads.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, settings: StoreSettings, work: Callable[[Store], Result]) -> Result:
        """Run a function in the process and return its result; it finds what the caller's projects have.

        Args:
            settings: Settings of the store that it is given.
            work: Can be pickled, as a function of a module can, or a `functools.partial` of one.

        Raises:
            RankeryError: What the work raises.
            RuntimeError: The work failed otherwise, or its process did not survive it.
        """
        with self._turn:
            try:
                requests, answers = self._pipes()
                pickle.dump((settings, projects(), work), requests)
                requests.flush()
                outcome = pickle.load(answers)  # noqa: S301 - our own process wrote it
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._stop()
                raise RuntimeError("the process of low priority has ended") from error
        if isinstance(outcome, RankeryError):
            raise outcome
        if isinstance(outcome, _Failure):
            raise RuntimeError(outcome.trace)
        result: Result = outcome
        return result

    def start(self) -> None:
        """Start the process, so that the first piece of work need not wait for its imports.

        No caller waits for them, so that they are of low priority, too.
        """
        with self._turn:
            self._pipes(_NICE)

    def stop(self) -> None:
        """End the process; further work starts another one."""
        with self._turn:
            self._stop()

    def _pipes(self, niceness: int = 0) -> tuple[BinaryIO, BinaryIO]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = _started(niceness)
        return cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()  # it holds nothing that outlives it
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what was written to it is lost
                if pipe is not None:
                    pipe.close()


# One for all applications of this process: its start takes seconds, its libraries 200 MB.
LOW_PRIORITY = LowPriorityProcess()
atexit.register(LOW_PRIORITY.stop)


class _Failure:
    """An error of the other process, to log in this one."""

    def __init__(self, trace: str) -> None:
        self.trace = trace


def _started(niceness: int) -> subprocess.Popen[bytes]:
    module = module_command("app.http.admission.low_priority")
    command = ["/usr/bin/env", "nice", "-n", str(niceness), *module]
    return subprocess.Popen(  # noqa: S603 - no input is in it
        command, env=module_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Do what is asked for until the other process closes its end."""
    store, opened = None, None
    while True:
        try:
            settings, allowed, work = pickle.load(requests)  # noqa: S301 - the process that started this one wrote it
        except EOFError:
            return
        try:
            if store is None or settings != opened:
                if store is not None:
                    store.close()
                store, opened = Store.open(settings), settings
            with limited_to(allowed):
                outcome = work(store)
        except RankeryError as error:
            outcome = error
        except Exception:  # noqa: BLE001 - it is raised where the work was asked for
            outcome = _Failure(traceback.format_exc())
        pickle.dump(outcome, answers)
        answers.flush()


def main() -> None:
    """Serve the process that started this one."""
    capture_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which is meant for the other one
    # Not before: a caller waits for the first piece of work, and for the imports with it.
    os.nice(_NICE - os.nice(0))
    # Libraries write to the standard output, too.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)
    # Python's own end takes a fifth of a second, for which a process of this priority waits minutes where
    # others are busy. It holds nothing that outlives it.
    os._exit(0)


if __name__ == "__main__":
    leave_out_unused()
    # By its name, so that what is pickled here is known there.
    from app.http.admission.low_priority import main as serve

    serve()
