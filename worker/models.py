"""Stored models, as a job needs them."""

import hashlib
from dataclasses import dataclass

from core.errors import ArtifactDamaged
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


def heal_models(store: Store, text: bytes) -> list[str]:
    """Write a text again for each model that has it and whose stored copy is damaged; returns their ids."""
    sha256 = hashlib.sha256(text).hexdigest()
    with store.read() as tx:
        models = tx.models.of_text(sha256)
    healed = []
    for model in models:
        key = model_key(model.id)
        try:
            store.verified.read_bytes(key, sha256)
        except ArtifactDamaged:
            store.artifacts.write_bytes(key, text)
            store.verified.read_bytes(key, sha256)  # which takes the damage off the record
            healed.append(model.id)
    return healed


def load_model(store: Store, model_id: str) -> LoadedModel:
    """Load a model to score with.

    Raises:
        NotFound: There is no such model.
        ArtifactDamaged: Its text is not the one that was stored.
        ModelError: Its text cannot be used.
    """
    with store.read() as tx:
        row = tx.models.get(model_id)
    text = ModelText.read(store.verified.read_bytes(model_key(model_id), row.sha256))
    return LoadedModel(Forest(text), text, tuple(row.feature_names))
