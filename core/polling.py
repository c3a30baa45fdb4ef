"""Call a function periodically in a thread while a block runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def polling(function: Callable[[], object], interval_seconds: float, name: str) -> Iterator[None]:
    """Call a function periodically in a daemon thread, which ends with the block.

    Args:
        function: The function; an exception in it ends the daemon thread only.
        interval_seconds: Interval between calls, and before the first one.
    """
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(interval_seconds):
            function()

    thread = threading.Thread(target=poll, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
