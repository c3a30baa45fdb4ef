"""Wall time of an iteration by part."""

import time
from collections import defaultdict

OBJECTIVE = "objective"
TREE = "tree"
NETWORK = "network"
METRICS = "metrics"
DIAGNOSTICS = "diagnostics"
EXCHANGE = "exchange"


class Stopwatch:
    """A stopwatch for the parts of a loop; time in a nested part counts for the inner part only."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str | None, float] = defaultdict(float)
        self._part: str | None = None
        self._since = time.perf_counter()

    def timing(self, part: str) -> "_Timing":
        """Return a context manager that counts the time of its block for a part."""
        return _Timing(self, part)

    def lap(self) -> dict[str, float]:
        """Return the milliseconds of each part since the last lap; call this outside of `timing`."""
        milliseconds = {
            part: round(1e3 * spent, 3) for part, spent in self._seconds.items() if part is not None
        }
        self._seconds.clear()
        return milliseconds

    def switch(self, part: str | None) -> str | None:
        """Begin to count time for a part, None for no part; return the previous part."""
        now, previous = time.perf_counter(), self._part
        self._seconds[previous] += now - self._since
        self._part, self._since = part, now
        return previous


class _Timing:
    """Context of a part: steps of small batches are too short for a generator."""

    def __init__(self, stopwatch: Stopwatch, part: str) -> None:
        self._stopwatch, self._part = stopwatch, part

    def __enter__(self) -> None:
        self._outer = self._stopwatch.switch(self._part)

    def __exit__(self, *_: object) -> None:
        self._stopwatch.switch(self._outer)
