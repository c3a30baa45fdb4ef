"""The interface of stored models, and the model of trees."""

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
        """Return the feature names in the model's file, in the model's order."""

    @property
    def size_bytes(self) -> int:
        """Return the approximate memory of the model in bytes."""

    @property
    def steps(self) -> int:
        """Return the cost of one score, in units of about one tree split."""

    @property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that scores depend on, in order."""

    @property
    def precision(self) -> Precision:
        """Return the precision that features are rounded to before they are scored."""

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return the values of the categorical features, by column."""

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Return the scores, (n_documents,), of features, (n_documents, n_features).

        Raises:
            ScoreNotFinite: A score is NaN or infinite.
        """


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A forest.

    Attributes:
        precision: Precision of the training features: float32 for models trained here, float64 for imported
            LightGBM models.
    """

    text: ModelText
    precision: Precision = "float32"

    @property
    def kind(self) -> str:
        """Return `trees`."""
        return "trees"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the feature names in LightGBM's text."""
        return self.text.feature_names

    @property
    def size_bytes(self) -> int:
        """Return the approximate memory of the model in bytes."""
        return self.forest.size_bytes

    @property
    def steps(self) -> int:
        """Return an upper bound of the splits that a document passes."""
        return self.forest.max_splits

    @property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that a tree reads, in order."""
        return self.text.used_features

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return the values of the categorical features, by column."""
        return self.text.categories

    @cached_property
    def forest(self) -> Forest:
        """Return the trees as a scoring function."""
        return Forest(self.text)

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Return the scores of features in the model's precision; see `Forest.score`."""
        if not isinstance(features, SelectedFeatures):  # selected features are float32
            features = rounded(features, self.precision)
        return checked_finite(self.forest.score(features, threads))


def rounded(features: FloatArray, precision: Precision) -> FloatArray:
    """Round features to a model's precision."""
    return features if precision == "float64" else as_float32(features)


def categories_by_name(model: ScoringModel, feature_names: tuple[str, ...]) -> dict[str, Categories]:
    """Return the values of the categorical features by the names that a dataset gives the columns."""
    return {feature_names[column]: each for column, each in model.categories.items()}


def checked_finite(scores: Float64Array) -> Float64Array:
    """Return scores, (n_documents,), after a check that all are finite.

    Raises:
        ScoreNotFinite: With the first score that is not finite: valid features can be too large for a model.
    """
    is_finite = np.isfinite(scores)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise ScoreNotFinite(row, float(scores[row]))
    return scores
