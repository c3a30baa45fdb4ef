"""Disk caches of a worker."""

from dataclasses import dataclass

import structlog

from core.data import RankingDataset
from core.data.arrays import load_arrays, save_arrays
from core.store.artifacts.local_cache import LocalCache
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
