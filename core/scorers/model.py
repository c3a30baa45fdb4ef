"""The interface of stored models: trees, linear scorers and networks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from core.data.categories import Categories
from core.data.features import SelectedFeatures
from core.errors import ScoreNotFinite
from core.scorers.inputs import as_float32
from core.scoring.forest import Forest
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray, Precision


class ScoringModel(Protocol):
    """A model that scores documents."""

    @property
    def kind(self) -> str:
        """Return `trees`, `linear`, `mlp` or `sum`."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features in the model's order, as its file has them."""

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes, about."""

    @property
    def steps(self) -> int:
        """Return what one score takes, in units of about a split that a document passes."""

    @property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that decide scores, in order."""

    @property
    def precision(self) -> Precision:
        """Return the precision that features are rounded to before they are scored."""

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return the values of the features that are categories, by column."""

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Return the scores, (n_documents,), of features, (n_documents, n_features).

        Raises:
            ScoreNotFinite: One is NaN or infinite.
        """


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A forest.

    Attributes:
        text: What LightGBM's text holds.
        precision: Precision of the features that it was trained on: float32 here, float64 in LightGBM
            elsewhere.
    """

    text: ModelText
    precision: Precision = "float32"

    @property
    def kind(self) -> str:
        """Return `trees`."""
        return "trees"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of its features, as LightGBM's text has them."""
        return self.text.feature_names

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes, about."""
        return self.forest.size_bytes

    @property
    def steps(self) -> int:
        """Return the splits that a document may pass."""
        return self.forest.max_splits

    @property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that a tree reads."""
        return self.text.used_features

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return the values of the features that are categories, by column."""
        return self.text.categories

    @cached_property
    def forest(self) -> Forest:
        """Return the trees, to score with."""
        return Forest(self.text)

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Return the scores of features in the model's precision; see `Forest.score`."""
        if not isinstance(features, SelectedFeatures):  # which are float32
            features = rounded(features, self.precision)
        return finite(self.forest.score(features, threads))


def rounded(features: FloatArray, precision: Precision) -> FloatArray:
    """Return features as a model of a precision reads them."""
    return features if precision == "float64" else as_float32(features)


def categories_by_name(model: ScoringModel, feature_names: tuple[str, ...]) -> dict[str, Categories]:
    """Return the values of the categorical features by the names that a dataset gives the columns."""
    return {feature_names[column]: each for column, each in model.categories.items()}


def finite(scores: Float64Array) -> Float64Array:
    """Return scores, (n_documents,), all of which are finite.

    Raises:
        ScoreNotFinite: With the first that is not: legal features can be too large for a model's weights.
    """
    is_finite = np.isfinite(scores)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise ScoreNotFinite(row, float(scores[row]))
    return scores
