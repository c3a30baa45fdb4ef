"""Stored models, as a job needs them."""

from core.scoring import Forest
from core.store import Store


def model_key(model_id: str) -> str:
    """Return the key of a model's LightGBM text."""
    return f"models/{model_id}/model.txt"


def load_forest(store: Store, model_id: str) -> Forest:
    """Load a model to score with.

    Raises:
        NotFound: There is no such model.
        ModelError: Its text is damaged.
    """
    return Forest.parse(store.artifacts.read_bytes(model_key(model_id)).decode())
