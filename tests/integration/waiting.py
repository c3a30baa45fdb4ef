"""Wait until a condition holds."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_SECONDS = 200.0
Result = TypeVar("Result")


def wait_for(
    find: Callable[[], Result | None], limit_seconds: float = LIMIT_SECONDS, pause_seconds: float = 0.02
) -> Result:
    """Call a function repeatedly until its result is true, and return the result."""
    deadline = time.monotonic() + limit_seconds
    while not (result := find()):
        assert time.monotonic() < deadline, f"nothing was found in {limit_seconds:g} s"
        time.sleep(pause_seconds)
    return result
