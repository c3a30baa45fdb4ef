"""Stored models, as a job needs them."""

from dataclasses import dataclass

from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.store import Store


@dataclass(frozen=True)
class LoadedModel:
    """A model to score with.

    Attributes:
        forest: Its trees, to score with.
        text: Its trees, to be looked at.
        feature_names: Its features in their order, by the names that its dataset gave them.
    """

    forest: Forest
    text: ModelText
    feature_names: tuple[str, ...]


def model_key(model_id: str) -> str:
    """Return the key of a model's LightGBM text."""
    return f"models/{model_id}/model.txt"


def load_model(store: Store, model_id: str) -> LoadedModel:
    """Load a model to score with.

    Raises:
        NotFound: There is no such model.
        ModelError: Its text is damaged.
    """
    with store.read() as tx:
        row = tx.models.get(model_id)
    # What is no UTF-8 is damaged, and refused wherever it matters.
    text = ModelText.read(store.artifacts.read_bytes(model_key(model_id)).decode("utf-8", "replace"))
    return LoadedModel(Forest(text), text, tuple(row.feature_names))
