"""Stored models, as a job needs them."""

from dataclasses import dataclass

from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.store import Store
from core.store.result_keys import model_key


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

    @property
    def used_features(self) -> tuple[str, ...]:
        """Return the names of the features that decide scores."""
        return tuple(self.feature_names[column] for column in self.text.used_features)


def load_model(store: Store, model_id: str) -> LoadedModel:
    """Load a model to score with.

    Raises:
        NotFound: There is no such model.
        ModelError: Its text is damaged.
    """
    with store.read() as tx:
        row = tx.models.get(model_id)
    text = ModelText.read(store.artifacts.read_bytes(model_key(model_id)))
    return LoadedModel(Forest(text), text, tuple(row.feature_names))
