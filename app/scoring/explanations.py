"""Explanations of scores, cached by model."""

from functools import lru_cache

from app.models.stored_models import MAX_MODELS, StoredModels
from core.scorers.explainability import Explainer, explainer_of


class Explanations:
    """LRU cache of explainers by model id. Thread-safe."""

    def __init__(self, models: StoredModels) -> None:
        self._models = models
        self.of = lru_cache(maxsize=MAX_MODELS)(self._read)

    def _read(self, model_id: str) -> Explainer:
        return explainer_of(self._models.of(model_id))
