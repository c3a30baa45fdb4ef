"""Cache of stored models for inspection and explanations."""

from functools import lru_cache
from typing import Annotated

from app.http.services import injected
from core.scorers import ScoringModel, read_model
from core.store import Store
from core.store.artifacts.keys import model_key

MAX_MODELS = 4


class ModelCache:
    """LRU cache of models by id. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.of = lru_cache(maxsize=MAX_MODELS)(self._read)

    def _read(self, model_id: str) -> ScoringModel:
        with self._store.read() as tx:
            row = tx.models.get(model_id)
        return read_model(self._store.verified.read_bytes(model_key(model_id), row.sha256), row.precision)


UseModelCache = Annotated[ModelCache, injected(ModelCache)]
