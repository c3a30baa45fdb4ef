"""Fitting a dataset to the features of a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.data.dataset import RankingDataset
from core.errors import DatasetError, FeaturesAbsent

_NUMBERED = re.compile(r"f(0|[1-9][0-9]*)")
_NAMED_IN_ERROR = 5


@dataclass(frozen=True)
class AbsentFeatures:
    """The features that are used and that a dataset lacks.

    Attributes:
        names: Their names.
        used: How many features are used in all.
    """

    names: tuple[str, ...]
    used: int

    @classmethod
    def of(cls, dataset: RankingDataset, used: Sequence[str]) -> "AbsentFeatures":
        """Look for features in a dataset. One that is constant is there."""
        there = set(dataset.feature_names)
        return cls(tuple(name for name in used if name not in there), len(used))

    @property
    def are_most(self) -> bool:
        """Return whether more than half of the features are absent, so that scores mean little."""
        return 2 * len(self.names) > self.used

    def refuse_most(self, pointer: str, dataset: str, user: str, *, advice: str = "") -> None:
        """Refuse a dataset that lacks more than half of the features.

        Args:
            pointer: Where a request names the dataset.
            dataset: What the dataset is called: "the dataset".
            user: What uses the features: "web:3".
            advice: How to go on with it all the same.

        Raises:
            FeaturesAbsent: It does.
        """
        if not self.are_most:
            return
        named = ", ".join(self.names[:_NAMED_IN_ERROR]) + (", …" if len(self.names) > _NAMED_IN_ERROR else "")
        raise FeaturesAbsent.at(
            pointer,
            f"{dataset} lacks {len(self.names):,} of the {self.used:,} features that {user} uses ({named});"
            f" check that its columns have the names of the training data{advice}",
        )


def fit_features(dataset: RankingDataset, feature_names: tuple[str, ...]) -> RankingDataset:
    """Give a dataset exactly these features in this order; others are left out.

    Absent features are missing values (NaN). LETOR text, however, leaves zeros out, so that a file has as
    many features as its highest number: where all names are numbered (f1, f2, …), absent features are 0.

    Raises:
        DatasetError: The dataset is bare judgments.
    """
    if dataset.feature_names == feature_names:
        return dataset
    if not dataset.n_features:
        raise DatasetError.at(
            "expected features to score, but these are bare judgments; name a ranking instead"
        )
    column_of = {name: column for column, name in enumerate(dataset.feature_names)}
    numbered = all(map(_NUMBERED.fullmatch, (*feature_names, *dataset.feature_names)))
    features = np.full(
        (dataset.n_documents, len(feature_names)), 0.0 if numbered else np.nan, dtype=np.float32
    )
    for column, name in enumerate(feature_names):
        if name in column_of:
            features[:, column] = dataset.features[:, column_of[name]]
    return dataset.with_features(features, feature_names)
