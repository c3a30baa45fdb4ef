"""A trained forest as a scoring function."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.features import SelectedFeatures, row_blocks
from core.errors import ModelError
from core.ranges import over_ranges, read_only, use_threads
from core.scoring.descent import BLOCK, FlatForest, leaf_depths, score
from core.scoring.flat_forest import flatten
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray

MIN_PARALLEL_DOCUMENTS = 64 * BLOCK  # starting threads takes longer than scoring fewer documents


class Forest:
    """A LightGBM model that scores documents.

    Scores are raw sums of leaf values in float64, bit for bit as by LightGBM's `predict(raw_score=True)`.

    Attributes:
        feature_names: Feature names in the model's order.
        n_trees: Number of trees.
        max_splits: Sum of the depths of all trees: upper bound of the splits that a document passes.
        size_bytes: Approximate memory in bytes.
    """

    def __init__(self, text: ModelText) -> None:
        flat = flatten(text.trees)
        self._trees: FlatForest | Any = flat or _booster(text)
        self.size_bytes = sum(array.nbytes for array in flat or _arrays(text))
        self.feature_names = text.feature_names
        self.n_trees = len(text.trees)
        self.max_splits = sum(int(leaf_depths(tree.left, tree.right).max()) for tree in text.trees)

    @classmethod
    def parse(cls, model_text: str | bytes) -> "Forest":
        """Read a model from LightGBM's text form.

        Raises:
            ModelError: The text is not a LightGBM model, or is damaged.
        """
        return cls(ModelText.read(model_text))

    @property
    def n_features(self) -> int:
        """Return the number of features of a document."""
        return len(self.feature_names)

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the model's feature order; NaN where missing.
            threads: Threads to use, where there are enough documents for them.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: The number of features is not the model's.
        """
        if len(features.shape) != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"the model needs {self.n_features} features, but got {features.shape[-1]}")
        if isinstance(features, SelectedFeatures):
            scored = [self.score(block, threads) for _, block in row_blocks(features)]
            return np.concatenate(scored) if scored else np.empty(0)
        if features.dtype not in (np.float32, np.float64) or not features.flags.c_contiguous:
            features = np.ascontiguousarray(features, np.float64)
        flat = self._trees
        if not isinstance(flat, FlatForest):
            return _scored_by_lightgbm(flat, features, threads)
        scores, n_blocks = np.empty(len(features)), -(-len(features) // BLOCK)
        view = read_only(features)
        if threads > 1 and len(features) >= MIN_PARALLEL_DOCUMENTS:
            use_threads(threads)
            over_ranges(score, n_blocks, view, flat, scores, work=features.size)
        else:
            score(0, n_blocks, view, flat, scores)
        return scores


def _arrays(text: ModelText) -> Iterator[NDArray[Any]]:
    for tree in text.trees:
        yield from (value for value in vars(tree).values() if isinstance(value, np.ndarray))


def _booster(text: ModelText) -> Any:
    import lightgbm  # on first use: the import takes a second and 100 MB, and is rarely needed

    return lightgbm.Booster(model_str=text.write())


def _scored_by_lightgbm(booster: Any, features: FloatArray, threads: int) -> Float64Array:
    if not len(features):
        return np.empty(0)
    return np.asarray(booster.predict(features, raw_score=True, num_threads=threads), np.float64)
