"""Texts of stored models and the explanations computed from them, cached by model."""

from functools import lru_cache

from core.scoring import Contributions
from core.scoring.model_text import ModelText
from core.store import Store
from core.store.artifacts.keys import model_key

MOST_MODELS = 4


class ModelTexts:
    """LRU cache of model texts by id. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.of = lru_cache(maxsize=MOST_MODELS)(self._read)

    def _read(self, model_id: str) -> ModelText:
        with self._store.read() as tx:
            sha256 = tx.models.get(model_id).sha256
        return ModelText.read(self._store.verified.read_bytes(model_key(model_id), sha256))


class Explanations:
    """LRU cache of explanations by model id. Thread-safe."""

    def __init__(self, texts: ModelTexts) -> None:
        self._texts = texts
        self.of = lru_cache(maxsize=MOST_MODELS)(self._read)

    def _read(self, model_id: str) -> Contributions:
        return Contributions(self._texts.of(model_id))
