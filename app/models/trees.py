"""Read the trees of a stored model for display."""

import numpy as np

from app.models.inspection_schemas import FeatureImportance, ModelImportance, ModelTree
from app.models.model_cache import ModelCache
from core.errors import WrongState
from core.inspection import split_importance, tree_nodes
from core.scorers import TreeModel
from core.store import Model

_NO_TREES = (
    "only models of trees have this view. For other models, measure feature importance on a"
    ' dataset with an inspect job (POST /v1/jobs with "kind": "inspect"), or explain scores by feature with'
    ' "explain": true in a ranking request'
)


class InspectedModel:
    """The trees of one stored model.

    Raises:
        ModelError: The model's file is damaged.
        WrongState: The model has no trees.
    """

    def __init__(self, model_cache: ModelCache, model: Model) -> None:
        self._model = model
        self._names = tuple(model.feature_names)
        scorer = model_cache.of(model.id)
        if not isinstance(scorer, TreeModel):
            raise WrongState("model", model.reference, f"of the kind {scorer.kind}", _NO_TREES)
        self._text = scorer.text

    def importance(self) -> ModelImportance:
        """Return the importance of each feature, largest gain first."""
        importance = split_importance(self._text)
        gain_share = importance.gain / max(importance.gain.sum(), np.finfo(np.float64).tiny)
        split_share = importance.split / max(int(importance.split.sum()), 1)
        features = [
            FeatureImportance(
                feature=self._names[i],
                gain=float(importance.gain[i]),
                gain_share=float(gain_share[i]),
                split=int(importance.split[i]),
                split_share=float(split_share[i]),
            )
            for i in np.argsort(-importance.gain, kind="stable")
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
