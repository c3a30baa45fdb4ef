"""Why a document has its score: what each feature contributes to it.

Shapley values of the trees (Lundberg et al., "From local explanations to global understanding with
explainable AI for trees", 2020), as LightGBM computes them: over the ways of the training documents through
each tree.
"""

from typing import Any

import numpy as np

from core.errors import ModelError
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray


class Contributions:
    """Explains the scores of a model.

    Args:
        text: The model.

    Raises:
        ModelError: Its leaves are linear, or it does not tell how many documents came through its splits.
    """

    def __init__(self, text: ModelText) -> None:
        if any(tree.linear is not None for tree in text.trees):
            raise ModelError("the leaves of this model are linear: their scores cannot be explained")
        if any(
            not (tree.split_counts.all() and tree.leaf_counts.all()) for tree in text.trees if len(tree.left)
        ):
            raise ModelError(
                "this model does not tell how many documents it was grown from, which explains it"
            )
        import lightgbm  # takes a second and 100 MB, and is seldom needed

        self._booster: Any = lightgbm.Booster(model_str=text.write())

    def of(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents.

        Args:
            features: (n_documents, n_features) in the model's feature order; NaN where missing.

        Returns:
            (n_documents,) what a document has before anything is known of it, the same for all; and
            (n_documents, n_features) what each feature adds. Together they add up to the score, but for
            rounding.
        """
        if not len(features):
            return np.empty(0), np.empty(features.shape)
        table = np.asarray(self._booster.predict(features, pred_contrib=True, num_threads=1), np.float64)
        return table[:, -1], table[:, :-1]
