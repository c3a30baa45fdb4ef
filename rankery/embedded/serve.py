"""`rankery serve`: the embedded service in the foreground until a signal ends it."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rankery.embedded.process import ServiceProcess
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import StackError, StackInterrupted

_WATCH_SECONDS = 0.2
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def serve(stack: EmbeddedStack, say: Callable[[str], None]) -> None:
    """Run the service until SIGINT, SIGTERM or SIGHUP, then stop all of it.

    Args:
        stack: The service, not yet started.
        say: Called with each line meant for the terminal.

    Raises:
        StackError: The service could not start, or a process ended repeatedly.
    """
    with _recorded_signals(stack) as signalled:
        try:
            stack.reserve()
            say(f"starting under {stack.data_dir}")
            stack.start()
            say(f"dashboard: {stack.url}")
            say(f"logs: {stack.data_dir / 'logs'} (Ctrl-C to stop)")
            supervisor = Supervisor(stack, say)
            while not signalled():
                supervisor.check()
                time.sleep(_WATCH_SECONDS)
            say("stopping")
        except StackInterrupted:
            say("stopping")
        finally:
            stack.stop()


@contextmanager
def _recorded_signals(stack: EmbeddedStack) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether a signal was received; a signal also aborts a start."""
    received: list[int] = []

    def record(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        stack.interrupt()

    previous = {number: signal.signal(number, record) for number in _SIGNALS}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


MAX_DEATHS = 5
STEADY_SECONDS = 60.0  # a process that runs longer has started successfully
_FIRST_WAIT_SECONDS = 0.5


class Supervisor:
    """Supervisor of a running service, with exponential backoff.

    A process that died is restarted after half a second. The delay doubles with each further death within
    `STEADY_SECONDS` of a start; `MAX_DEATHS` deaths in a row end the service.

    Args:
        say: Called with each line meant for the terminal.
    """

    def __init__(self, stack: EmbeddedStack, say: Callable[[str], None]) -> None:
        self._stack = stack
        self._say = say
        self._states = {name: _RestartState() for name in stack.processes}

    def check(self) -> None:
        """Restart dead processes whose delay is over.

        Raises:
            StackError: A process died repeatedly.
        """
        for process in self._stack.ended():
            state = self._states[process.name]
            if state.restart_at is None:
                self._schedule(process, state)
            elif time.monotonic() >= state.restart_at:
                state.started_at, state.restart_at = time.monotonic(), None
                self._stack.restart(process)

    def _schedule(self, process: ServiceProcess, state: "_RestartState") -> None:
        now = time.monotonic()
        state.deaths = state.deaths + 1 if now - state.started_at < STEADY_SECONDS else 1
        end, log = self._stack.unexpected_end(process), f"(log: {process.log_path})"
        if state.deaths == MAX_DEATHS:
            raise StackError(f"{end}; it ended {MAX_DEATHS} times in a row {log}")
        wait_seconds = _FIRST_WAIT_SECONDS * 2.0 ** (state.deaths - 1)
        state.restart_at = now + wait_seconds
        self._say(f"{end}; it restarts in {wait_seconds:g} s {log}")


class _RestartState:
    """Consecutive deaths of a process, time of its last start, and of its next start (None while running)."""

    def __init__(self) -> None:
        self.deaths = 0
        self.started_at = time.monotonic()
        self.restart_at: float | None = None
