"""`rankery serve`: the embedded service in the foreground until a signal ends it."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rankery.embedded.stack import EmbeddedStack
from rankery.embedded.supervisor import Supervisor
from rankery.errors import StackInterrupted

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
