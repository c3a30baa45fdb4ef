"""A look at something from time to time, in a thread, while a block runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def polling(look: Callable[[], object], interval_seconds: float, name: str) -> Iterator[None]:
    """Call a function again and again in a daemon thread, which has ended when the block has.

    Args:
        look: The function; what it raises ends its thread alone.
        interval_seconds: Time from one call to the next, and before the first.
        name: Of the thread.
    """
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(interval_seconds):
            look()

    thread = threading.Thread(target=poll, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
