"""Stored models for inspection, and the explanations of their scores, cached by model."""

from functools import lru_cache

from core.scorers import ScoringModel, read_model
from core.scorers.explainability import Explainer, explainer_of
from core.store import Store
from core.store.artifacts.keys import model_key

MOST_MODELS = 4


class StoredModels:
    """LRU cache of models by id, with all that their files hold. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.of = lru_cache(maxsize=MOST_MODELS)(self._read)

    def _read(self, model_id: str) -> ScoringModel:
        with self._store.read() as tx:
            row = tx.models.get(model_id)
        return read_model(self._store.verified.read_bytes(model_key(model_id), row.sha256), row.precision)


class Explanations:
    """LRU cache of explainers by model id. Thread-safe."""

    def __init__(self, models: StoredModels) -> None:
        self._models = models
        self.of = lru_cache(maxsize=MOST_MODELS)(self._read)

    def _read(self, model_id: str) -> Explainer:
        return explainer_of(self._models.of(model_id))
