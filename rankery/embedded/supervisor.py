"""Restart processes of the service that died, so that one crash does not stop the others."""

import time
from collections.abc import Callable

from rankery.embedded.process import ServiceProcess
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import StackError

MAX_DEATHS = 5
STEADY_SECONDS = 60.0  # a process that runs longer has started successfully
_FIRST_WAIT_SECONDS = 0.5


class Supervisor:
    """Supervisor of a running service, with exponential backoff.

    A process that died is restarted after half a second. The delay doubles with each further death within
    `STEADY_SECONDS` of a start; `MAX_DEATHS` deaths in a row end the service.

    Args:
        stack: The service, started.
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
