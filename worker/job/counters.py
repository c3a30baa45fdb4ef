"""Counters that a job adds to the service's totals."""

import time
from collections import Counter

from core.store.repositories.counters import (
    CACHE_HITS,
    CACHE_MISSES,
    TRAINING_ITERATIONS,
    TRAINING_SECONDS,
    Counters,
)
from worker.job.caches import Caches

_NO_LABELS = ""


class JobCounters:
    """Counts written with a job's reports, each exactly once.

    Args:
        caches: Caches whose hits and misses are counted.
    """

    def __init__(self, caches: Caches) -> None:
        self._caches = {"arrays": caches.arrays, "binned": caches.binned}
        self._written: Counter[tuple[str, str]] = Counter()
        self._pending: Counter[tuple[str, str]] = Counter()
        self._iterations = 0
        self._seconds = 0.0
        self._iterated_at: float | None = None

    def count_iteration(self) -> None:
        """Count a boosting iteration; exclude the time of the first one, which also prepares the data."""
        now = time.monotonic()
        if self._iterated_at is not None:
            self._seconds += now - self._iterated_at
        self._iterations += 1
        self._iterated_at = now

    def add_to(self, counters: Counters) -> None:
        """Add the counts that are not committed yet to the service's totals."""
        self._pending = self._all()
        for (name, cache), amount in self._pending.items():
            if amount > self._written[name, cache]:
                labels = {} if cache == _NO_LABELS else {"cache": cache}
                counters.add(name, labels, amount - self._written[name, cache])

    def committed(self) -> None:
        """Mark the last added counts as committed."""
        self._written = self._pending

    def _all(self) -> Counter[tuple[str, str]]:
        counts: Counter[tuple[str, str]] = Counter()
        counts[TRAINING_ITERATIONS, _NO_LABELS] = self._iterations
        counts[TRAINING_SECONDS, _NO_LABELS] = self._seconds  # type: ignore[assignment]
        for name, cache in self._caches.items():
            counts[CACHE_HITS, name] = cache.hits
            counts[CACHE_MISSES, name] = cache.misses
        return counts
