"""Read the trees of a stored model for display."""

import numpy as np

from app.models.inspection_schemas import FeatureImportance, ModelImportance, ModelTree
from app.services import Services
from core.inspection import split_importance, tree_nodes
from core.store import Model


class InspectedModel:
    """The stored text of one model.

    Raises:
        ModelError: Its text is damaged.
    """

    def __init__(self, services: Services, model: Model) -> None:
        self._model = model
        self._names = tuple(self._model.feature_names)
        self._text = services.texts.of(self._model.id)

    def importance(self) -> ModelImportance:
        """Return the importance of each feature, largest gain first."""
        found = split_importance(self._text)
        gain_share = found.gain / max(found.gain.sum(), np.finfo(np.float64).tiny)
        split_share = found.split / max(int(found.split.sum()), 1)
        features = [
            FeatureImportance(
                feature=self._names[i],
                gain=float(found.gain[i]),
                gain_share=float(gain_share[i]),
                split=int(found.split[i]),
                split_share=float(split_share[i]),
            )
            for i in np.argsort(-found.gain, kind="stable")
        ]
        return ModelImportance(model_id=self._model.id, trees=len(self._text.trees), features=features)

    def tree(self, index: int, root: int, depth: int) -> ModelTree:
        """Return a tree, or the subtree of one of its splits.

        Raises:
            InvalidInput: There is no such tree, or no such split.
        """
        nodes = tree_nodes(self._text, index, self._names, root, depth)
        return ModelTree.model_validate(
            {"model_id": self._model.id, "index": index, "trees": len(self._text.trees), "root": nodes}
        )
