"""What explains the scores of a model, made when it is first asked for."""

from functools import lru_cache

from app.serving.model_texts import MOST_MODELS, ModelTexts
from core.scoring import Contributions


class Explanations:
    """Explains models by id, the least recently asked given up first; safe between threads."""

    def __init__(self, texts: ModelTexts) -> None:
        self._texts = texts
        self.of = lru_cache(maxsize=MOST_MODELS)(self._read)

    def _read(self, model_id: str) -> Contributions:
        return Contributions(self._texts.of(model_id))
