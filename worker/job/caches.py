"""Disk caches of a worker, and the counters that a job adds to the totals of the service."""

import time
from collections import Counter
from dataclasses import dataclass

import structlog

from core.data import RankingDataset
from core.data.arrays import load_arrays, save_arrays
from core.store.artifacts.local_cache import LocalCache
from core.store.repositories.statistics import (
    CACHE_HITS,
    CACHE_MISSES,
    TRAINING_ITERATIONS,
    TRAINING_SECONDS,
    Counters,
)
from worker.settings import WorkerSettings

_LOG = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class Caches:
    """Disk caches shared by the pool processes of a worker; they can be deleted safely.

    Attributes:
        arrays: Datasets as arrays, by the digest of their content.
        binned: Datasets in LightGBM's bins.
    """

    arrays: LocalCache
    binned: LocalCache

    @classmethod
    def of(cls, settings: WorkerSettings) -> "Caches":
        """Return the caches in the data folder."""
        folder = settings.data_dir / "cache"
        return cls(
            LocalCache(folder / "arrays", settings.array_cache_bytes),
            LocalCache(folder / "binned", settings.binned_cache_bytes),
        )

    def dataset(self, key: str) -> RankingDataset | None:
        """Memory-map a cached dataset, or return None."""
        folder = self.arrays.find(key)
        if folder is None:
            return None
        try:
            return load_arrays(folder)
        except FileNotFoundError:
            _LOG.info("cache.missed", key=key)  # evicted while it was opened
        except (OSError, ValueError):
            _LOG.warning("cache.damaged", key=key, exc_info=True)
        self.arrays.discard(key)
        return None

    def keep_dataset(self, key: str, dataset: RankingDataset) -> None:
        """Cache a dataset; ignore a full disk."""
        if not self.arrays.fits(dataset.features.nbytes):
            return
        try:
            with self.arrays.adding(key) as folder:
                save_arrays(dataset, folder)
        except OSError:
            _LOG.warning("cache.not_kept", key=key, exc_info=True)


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
