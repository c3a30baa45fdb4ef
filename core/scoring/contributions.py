"""Explanations of scores: the contribution of each feature.

Shapley values of the trees (Lundberg et al., "From local explanations to global understanding with
explainable AI for trees", 2020), as LightGBM computes them: weighted by the training documents on each path
of a tree.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import ModelError
from core.scoring.descent import leaf_depths
from core.scoring.limits import MAX_DEPTH
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class Explainability:
    """Whether the scores of a model can be explained, and at what cost.

    Attributes:
        problem: The reason why the scores cannot be explained, else None.
        steps: Cost of explaining one score, at least 1, in steps of about 5 ns. For trees, it is the sum of
            squared path lengths over all leaves. A feature counts once per path, since LightGBM weighs each
            feature of a path against all others.
    """

    problem: str | None
    steps: int

    @classmethod
    def of(cls, text: ModelText) -> "Explainability":
        """Return the explainability of a model, without loading it into LightGBM."""
        deepest, steps = 0, 1
        for tree in text.trees:
            depths = leaf_depths(tree.left, tree.right)
            lengths = np.minimum(depths, len(np.unique(tree.features))) + 1
            steps += int((lengths * lengths).sum())
            deepest = max(deepest, int(depths.max()))
        return cls(_problem(text, deepest), steps)


class TreeExplainer:
    """Explainer of the scores of a forest.

    Attributes:
        steps: Cost of explaining one score; see `Explainability`.

    Raises:
        ModelError: The scores cannot be explained; see `Explainability`.
    """

    def __init__(self, text: ModelText) -> None:
        explainability = Explainability.of(text)
        if explainability.problem is not None:
            raise ModelError(explainability.problem)
        import lightgbm  # on first use: the import takes a second and 100 MB, and is rarely needed

        self.steps = explainability.steps
        self._booster: Any = lightgbm.Booster(model_str=text.write())

    def explain(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents.

        Args:
            features: (n_documents, n_features) in the model's feature order; NaN where missing.

        Returns:
            (n_documents,) the expected score, the same for all documents; and (n_documents, n_features) the
            contribution of each feature. Their sum is the score, except for rounding.
        """
        if not len(features):
            return np.empty(0), np.empty(features.shape)
        table = np.asarray(self._booster.predict(features, pred_contrib=True, num_threads=1), np.float64)
        return table[:, -1], table[:, :-1]


def _problem(text: ModelText, deepest: int) -> str | None:
    if any(tree.linear is not None for tree in text.trees):
        return "scores of models with linear leaves cannot be explained"
    if any(not (tree.split_counts.all() and tree.leaf_counts.all()) for tree in text.trees if len(tree.left)):
        return "the model has no document counts of its leaves, which explanations need"
    if deepest > MAX_DEPTH:
        return (
            f"a tree of the model has a depth of {deepest:,}; scores can be explained up to a depth of"
            f" {MAX_DEPTH}. Train with max_depth"
        )
    return None
