"""A trained forest as a scoring function."""

import lightgbm
import numpy as np

from core.errors import ModelError
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray


class Forest:
    """A LightGBM model that scores documents.

    Scores are raw sums of leaf values in float64, the same as LightGBM's `predict(raw_score=True)`.
    """

    def __init__(self, booster: lightgbm.Booster) -> None:
        self._booster = booster
        self.feature_names: tuple[str, ...] = tuple(booster.feature_name())
        self.n_trees: int = booster.num_trees()

    @classmethod
    def parse(cls, model_text: str | bytes) -> "Forest":
        """Read a model from LightGBM's text form.

        Raises:
            ModelError: When the text is no such model, or was damaged.
        """
        try:
            text = model_text if isinstance(model_text, str) else model_text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError("the model text is not UTF-8") from error
        checked = ModelText.read(text).write()
        try:
            return cls(lightgbm.Booster(model_str=checked))
        except lightgbm.basic.LightGBMError as error:
            raise ModelError(f"LightGBM cannot read the model: {error}") from error

    @property
    def n_features(self) -> int:
        """Number of features a document must have."""
        return len(self.feature_names)

    def score(self, features: FloatArray, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the model's feature order; NaN where missing.
            threads: Threads to use.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: When the number of features is not the model's.
        """
        if features.ndim != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"the model needs {self.n_features} features, these are {features.shape[-1]}")
        if not len(features):
            return np.empty(0)
        scores = self._booster.predict(features, raw_score=True, num_threads=threads)
        return np.asarray(scores, np.float64)
