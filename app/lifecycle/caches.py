"""Caches of model references and of measured storage."""

import threading
import time
from typing import Annotated

from app.http.services import injected
from core.store import Store
from core.store.lifecycle.retention import RetentionPolicy
from core.store.lifecycle.storage import Storage, measure_storage


class ModelReferences:
    """Counter of changes by this process: moved aliases, deleted, restored or relabelled models.

    Attributes:
        changes: Number of changes. A cached reference is stale if it was read at another number.
    """

    def __init__(self) -> None:
        self.changes = 0

    def invalidate(self) -> None:
        """Invalidate all cached references after a change was committed. Thread-safe."""
        self.changes += 1


UseReferences = Annotated[ModelReferences, injected(ModelReferences)]


MAX_AGE_SECONDS = 60.0


class StorageMeasurements:
    """Cache of the storage usage, which is measured at most once a minute unless forced. Thread-safe."""

    def __init__(self, store: Store, policy: RetentionPolicy) -> None:
        self._store = store
        self._policy = policy
        self._lock = threading.Lock()
        self._latest: tuple[float, Storage] | None = None

    def measured(self, *, refresh: bool = False) -> Storage:
        """Return the storage usage, measured again if the cached measurement is too old.

        Raises:
            StoreUnavailable: The database or the storage cannot be reached.
        """
        with self._lock:
            if refresh or self._latest is None or time.monotonic() - self._latest[0] > MAX_AGE_SECONDS:
                self._latest = time.monotonic(), measure_storage(self._store, self._policy)
            return self._latest[1]


UseStorage = Annotated[StorageMeasurements, injected(StorageMeasurements)]
