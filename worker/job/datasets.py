"""Load stored datasets for a job."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.data import RankingDataset, read_parquet
from core.data.categories import Categories, values_by_feature
from core.data.features import SelectedFeatures, select_rows
from core.data.fitting import align_features, with_categories
from core.data.hold_out import HoldOut
from core.data.splits import bootstrap_queries
from core.errors import NotFound
from core.store import Store
from worker.job.caches import Caches


@dataclass(frozen=True)
class NamedDataset:
    """A dataset, with a cache key for its features.

    Attributes:
        dataset: Judged documents.
        features: Cache key of the feature matrix: equal if and only if values and feature names are equal;
            labels do not matter.
        data_key: Key of the stored content if the features are a selection of its rows and columns, else
            None.
    """

    dataset: RankingDataset
    features: str
    data_key: str | None = None

    def part(self, hold_out: HoldOut, seed: int) -> "tuple[NamedDataset, NamedDataset]":
        """Split the dataset into the kept and the held-out part.

        Raises:
            InvalidInput: The part cannot be held out of this dataset.
        """
        kept, held_out = hold_out.split(self.dataset, seed)
        name = f"{self.features} by {hold_out} with seed {seed}"
        return (
            NamedDataset(kept, f"{name}: kept", self.data_key),
            NamedDataset(held_out, f"{name}: held out", self.data_key),
        )

    def as_selection(self) -> "NamedDataset":
        """Return the dataset with its features as a selection of rows and columns of the stored content."""
        dataset = self.dataset
        selected = select_rows(dataset.features, np.arange(dataset.n_documents))
        features = dataset.with_features(selected, dataset.feature_names, dataset.categories)
        return replace(self, dataset=features)

    def bootstrapped(self, seed: int) -> "NamedDataset":
        """Return the dataset with the query weights of a bootstrap sample; see `bootstrap_queries`."""
        return replace(self, dataset=bootstrap_queries(self.dataset, seed))

    def with_categories(self, names: tuple[str, ...]) -> "NamedDataset":
        """Return the dataset with numeric features as categories; see `core.data.fitting.with_categories`.

        Raises:
            InvalidInput: A name is not a feature, or its values are not whole numbers.
        """
        dataset = with_categories(self.dataset, names)
        if dataset is self.dataset:
            return self
        return NamedDataset(dataset, f"{self.features} with categories {_digest(sorted(names))}")

    def aligned(self, feature_names: tuple[str, ...], categories: Mapping[str, Categories]) -> "NamedDataset":
        """Return the dataset with exactly these features; see `align_features`."""
        dataset = align_features(self.dataset, feature_names, categories)
        if dataset is self.dataset:
            return self
        decisive: list[Any] = (
            [feature_names, values_by_feature(categories)] if categories else list(feature_names)
        )
        is_selection = isinstance(dataset.features, SelectedFeatures)
        data_key = self.data_key if is_selection else None
        return NamedDataset(dataset, f"{self.features} fitted to {_digest(decisive)}", data_key)

    def judged(self, dataset: RankingDataset) -> "NamedDataset":
        """Return a dataset that differs only in its labels under the same cache key."""
        return replace(self, dataset=dataset)


def _digest(decisive: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()


def load_dataset(store: Store, caches: Caches, dataset_id: str) -> NamedDataset:
    """Load a dataset, memory-mapped from the cache if possible, else read and cached.

    Raises:
        NotFound: The dataset was deleted, or has not been read yet.
        ArtifactDamaged: The checksum of the Parquet file does not match.
    """
    with store.read() as tx:
        row = tx.datasets.get(dataset_id)
    if row.data_key is None:
        raise NotFound("data of dataset", dataset_id)
    # Datasets of early releases have no digest, and do not share their content.
    key = row.digest or row.id
    dataset = caches.dataset(key)
    if dataset is None:
        with store.verified.local(row.data_key) as path:
            dataset = read_parquet(path)
        caches.keep_dataset(key, dataset)
    return NamedDataset(dataset, key, row.data_key)
