"""Wall time of an iteration by part."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTIVE = "objective"
TREE = "tree"
NETWORK = "network"
METRICS = "metrics"
DIAGNOSTICS = "diagnostics"
EXCHANGE = "exchange"


class Stopwatch:
    """Measures the time of parts of a loop; time in a nested part counts for the inner part only."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str | None, float] = defaultdict(float)
        self._part: str | None = None
        self._since = time.perf_counter()

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Count the time of the block for a part."""
        outer = self._switch(part)
        try:
            yield
        finally:
            self._switch(outer)

    def lap(self) -> dict[str, float]:
        """Return the milliseconds of each part since the last lap; call this outside of `timing`."""
        milliseconds = {
            part: round(1e3 * spent, 3) for part, spent in self._seconds.items() if part is not None
        }
        self._seconds.clear()
        return milliseconds

    def _switch(self, part: str | None) -> str | None:
        """Begin to count time for a part, None for no part; return the previous part."""
        now, previous = time.perf_counter(), self._part
        self._seconds[previous] += now - self._since
        self._part, self._since = part, now
        return previous
