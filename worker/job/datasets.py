"""Load stored datasets and click logs for a job; store click logs."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.clicks.files import MANIFEST, file_names, map_click_log
from core.clicks.log import ClickLog
from core.clicks.training_data import training_data
from core.data import RankingDataset, read_parquet
from core.data.categories import Categories, values_by_feature
from core.data.feature_alignment import align_features, with_categories
from core.data.features import SelectedFeatures, select_rows
from core.data.folds import HoldOut
from core.data.splits import bootstrap_queries
from core.doctor.report import Finding
from core.errors import NotFound
from core.jobs.folders import log_claim_folder, log_claims_folders
from core.store import Store, new_id
from core.store.sources.scratch import scratch_folder
from core.temporary_files import reporting_full_disk
from worker.job.caches import Caches
from worker.job.run import JobRun


@dataclass(frozen=True)
class KeyedDataset:
    """A dataset, with a cache key for its features.

    Attributes:
        features_key: Cache key of the feature matrix: equal keys mean equal values and feature names; labels
            do not matter.
        data_key: Key of the stored content if the features are a selection of its rows and columns, else
            None.
    """

    dataset: RankingDataset
    features_key: str
    data_key: str | None = None

    def split(self, hold_out: HoldOut, seed: int) -> "tuple[KeyedDataset, KeyedDataset]":
        """Split the dataset into the kept and the held-out queries.

        Raises:
            InvalidInput: The queries cannot be held out of this dataset.
        """
        kept, held_out = hold_out.split(self.dataset, seed)
        name = f"{self.features_key} by {hold_out} with seed {seed}"
        return (
            KeyedDataset(kept, f"{name}: kept", self.data_key),
            KeyedDataset(held_out, f"{name}: held out", self.data_key),
        )

    def as_selection(self) -> "KeyedDataset":
        """Return the dataset with its features as a selection of rows and columns, as ranks read them."""
        dataset = self.dataset
        selected = select_rows(dataset.features, np.arange(dataset.n_documents))
        features = dataset.with_features(selected, dataset.feature_names, dataset.categories)
        return replace(self, dataset=features)

    def bootstrapped(self, seed: int) -> "KeyedDataset":
        """Return the dataset with the query weights of a bootstrap sample; see `bootstrap_queries`."""
        return replace(self, dataset=bootstrap_queries(self.dataset, seed))

    def with_categories(self, names: tuple[str, ...]) -> "KeyedDataset":
        """Return the dataset with numeric features as categories; see `core.data.feature_alignment`.

        Raises:
            InvalidInput: A name is not a feature, or its values are not whole numbers.
        """
        dataset = with_categories(self.dataset, names)
        if dataset is self.dataset:
            return self
        return KeyedDataset(dataset, f"{self.features_key} with categories {_digest(sorted(names))}")

    def aligned(self, feature_names: tuple[str, ...], categories: Mapping[str, Categories]) -> "KeyedDataset":
        """Return the dataset with exactly these features; see `align_features`."""
        dataset = align_features(self.dataset, feature_names, categories)
        if dataset is self.dataset:
            return self
        names: list[Any] = list(feature_names)
        alignment = [feature_names, values_by_feature(categories)] if categories else names
        is_selection = isinstance(dataset.features, SelectedFeatures)
        data_key = self.data_key if is_selection else None
        return KeyedDataset(dataset, f"{self.features_key} fitted to {_digest(alignment)}", data_key)

    def relabelled(self, dataset: RankingDataset) -> "KeyedDataset":
        """Return a dataset that differs from this one only in its labels, with the same cache key."""
        return replace(self, dataset=dataset)


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def load_dataset(store: Store, caches: Caches, dataset_id: str) -> KeyedDataset:
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
    return KeyedDataset(dataset, key, row.data_key)


def load_click_log(run: JobRun, log_id: str) -> ClickLog:
    """Map a stored click log into memory.

    Raises:
        NotFound: The log was deleted.
        WrongState: The log is not ready.
        ArtifactDamaged: The checksum of a column does not match.
    """
    with run.store.read() as tx:
        folder = tx.click_logs.ready(log_id).folder
    verified = run.store.verified
    with contextlib.ExitStack() as stack:
        names = file_names(stack.enter_context(verified.local(f"{folder}/{MANIFEST}")))
        # Mapped files can be read after the block has deleted local copies of remote files.
        return map_click_log(
            {name: stack.enter_context(verified.local(f"{folder}/{name}")) for name in names}
        )


@contextlib.contextmanager
def log_folder(run: JobRun) -> Iterator[Path]:
    """Provide an empty folder for the columns of a log; delete the folder after the block.

    Folders of killed processes are removed after a day.

    Raises:
        StoreFull: The disk becomes full within the block.
    """
    parent = run.settings.data_dir / "cache" / "click-logs"
    with scratch_folder(parent, new_id(f"{run.id}-")) as scratch:
        folder = scratch / "columns"
        folder.mkdir()
        try:
            with reporting_full_disk("the columns of the log", "the worker's data folder"):
                yield folder
        finally:
            shutil.rmtree(scratch)


def store_click_log(run: JobRun, log_id: str, folder: Path) -> str:
    """Store the columns of a log; return the folder of the artifacts, for `ClickLogs.mark_ready`.

    Args:
        folder: A folder that `LogWriter` or `write_click_log` wrote.
    """
    for claim_folder in log_claims_folders(log_id, run.id, run.lease.token - 1):
        run.artifacts.remove(claim_folder)
    target = log_claim_folder(log_id, run.id, run.lease.token)
    for path in sorted(folder.iterdir()):
        run.lease.check()
        with path.open("rb") as source, run.artifacts.writing(f"{target}/{path.name}") as file:
            shutil.copyfileobj(source, file, 2**20)
    return target


def lists_as_training_data(
    run: JobRun, log_id: str, features: KeyedDataset
) -> tuple[KeyedDataset, tuple[Finding, ...]]:
    """Return the lists of a click log as training data, with the features of a dataset, and findings.

    Raises:
        InvalidInput: No clicked document of the log has features.
        NotFound: The log was deleted.
    """
    lists = training_data(load_click_log(run, log_id), features.dataset)
    key = f"{features.features_key} in click log {log_id}"
    return KeyedDataset(lists.dataset, key, features.data_key), lists.findings
