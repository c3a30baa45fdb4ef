"""Stored datasets, as a job needs them."""

import re

import numpy as np

from core.data import RankingDataset, read_parquet
from core.errors import DatasetError
from core.store import Store

_NUMBERED = re.compile(r"f[1-9][0-9]*")
_NAMED_IN_ERROR = 5


def upload_key(dataset_id: str) -> str:
    """Return the key of the bytes as they were sent."""
    return f"datasets/{dataset_id}/upload"


def parquet_key(dataset_id: str) -> str:
    """Return the key of the dataset once it was read."""
    return f"datasets/{dataset_id}/data.parquet"


def load_dataset(store: Store, dataset_id: str) -> RankingDataset:
    """Load a dataset that is ready.

    Raises:
        NotFound: It was deleted, or has not been read yet.
    """
    with store.artifacts.local(parquet_key(dataset_id)) as path:
        return read_parquet(path)


def fit_features(dataset: RankingDataset, feature_names: tuple[str, ...]) -> RankingDataset:
    """Give a dataset exactly these features in this order; others are left out.

    LETOR text leaves zeros out, so a file has as many features as its highest number: of two files with
    numbered features (f1, f2, …) the narrower one has zeros in what it lacks.

    Raises:
        DatasetError: The dataset lacks a feature that is not of this kind.
    """
    if dataset.feature_names == feature_names:
        return dataset
    column_of = {name: column for column, name in enumerate(dataset.feature_names)}
    missing = [name for name in feature_names if name not in column_of]
    if missing and not all(map(_NUMBERED.fullmatch, (*missing, *dataset.feature_names))):
        named = ", ".join(missing[:_NAMED_IN_ERROR]) + (", …" if len(missing) > _NAMED_IN_ERROR else "")
        raise DatasetError.at(f"expected the features the model was trained on, but these are missing: {named}")
    features = np.zeros((dataset.n_documents, len(feature_names)), np.float32)
    for column, name in enumerate(feature_names):
        if name in column_of:
            features[:, column] = dataset.features[:, column_of[name]]
    return RankingDataset(
        features=features,
        labels=dataset.labels,
        query_boundaries=dataset.query_boundaries,
        query_ids=dataset.query_ids,
        document_ids=dataset.document_ids,
        feature_names=feature_names,
        query_weights=dataset.query_weights,
    )
