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
    """Time parts of a loop. The time of a part inside another one counts for the inner part only."""

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
        found = {part: round(1e3 * seconds, 3) for part, seconds in self._seconds.items() if part is not None}
        self._seconds.clear()
        return found

    def _switch(self, part: str | None) -> str | None:
        now, before = time.perf_counter(), self._part
        self._seconds[before] += now - self._since
        self._part, self._since = part, now
        return before
