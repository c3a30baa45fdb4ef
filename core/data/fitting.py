"""Fitting a dataset to the features of a model."""

import re

import numpy as np

from core.data.dataset import RankingDataset
from core.errors import DatasetError

_NUMBERED = re.compile(r"f(0|[1-9][0-9]*)")
_NAMED_IN_ERROR = 5


def fit_features(dataset: RankingDataset, feature_names: tuple[str, ...]) -> RankingDataset:
    """Give a dataset exactly these features in this order; others are left out.

    LETOR text leaves zeros out, so a file has as many features as its highest number: of two files with
    numbered features (f1, f2, …) the narrower one has zeros in what it lacks.

    Raises:
        DatasetError: The dataset lacks a feature that is not of this kind.
    """
    if dataset.feature_names == feature_names:
        return dataset
    if not dataset.n_features:
        raise DatasetError.at(
            "expected features to score, but these are bare judgments; name a ranking instead"
        )
    column_of = {name: column for column, name in enumerate(dataset.feature_names)}
    missing = [name for name in feature_names if name not in column_of]
    if missing and not all(map(_NUMBERED.fullmatch, (*missing, *dataset.feature_names))):
        named = ", ".join(missing[:_NAMED_IN_ERROR]) + (", …" if len(missing) > _NAMED_IN_ERROR else "")
        raise DatasetError.at(
            f"expected the features the model was trained on, but these are missing: {named}"
        )
    features = np.zeros((dataset.n_documents, len(feature_names)), np.float32)
    for column, name in enumerate(feature_names):
        if name in column_of:
            features[:, column] = dataset.features[:, column_of[name]]
    return dataset.with_features(features, feature_names)
