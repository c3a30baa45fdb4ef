"""Binned features, LightGBM's form of training data, cached between trainings."""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import lightgbm
import numpy as np

from core.data import RankingDataset
from core.training.bin_edges import CATEGORICAL, FeatureBlocks, bin_edges, progress_from
from core.training.hyperparameters import Hyperparameters
from core.types import Int64Array, OnProgress

_FILE = "bins"
_log = logging.getLogger(__name__)
# LightGBM writes names on one line, separated by spaces, and into JSON without escaping.
_UNWRITABLE = re.compile(r"[\s\x00-\x1f\",:\[\]{}]")


class BinCache(Protocol):
    """A cache of bins: folders under keys, which may be evicted at any time."""

    def fits(self, size_bytes: int) -> bool:
        """Return whether an entry of this size fits."""
        ...

    def find(self, key: str) -> Path | None:
        """Return the folder of a key, or None."""
        ...

    def adding(self, key: str) -> AbstractContextManager[Path]:
        """Provide a folder to fill, stored under the key when the block succeeds."""
        ...

    def discard(self, key: str) -> None:
        """Remove the entry of a key."""
        ...


@dataclass(frozen=True)
class CachedBins:
    """Cached bins of earlier trainings on the same features.

    Attributes:
        training: Key of the training features, unique for their matrix and names.
        validation: Key of the validation features, unique in the same way.
    """

    cache: BinCache
    training: str
    validation: str | None = None


class Bins(Protocol):
    """A source of the binned datasets of one training."""

    def datasets(
        self, training: RankingDataset, validation: RankingDataset | None = None
    ) -> dict[str, lightgbm.Dataset]:
        """Return the binned datasets by name: "train" and, with validation data, "validation"."""
        ...

    def silent(self) -> "Bins":
        """Return the same source without progress reports."""
        ...


@dataclass(frozen=True)
class SharedBins:
    """The bins of one dataset, shared by trainings on subsets of its documents.

    All trainings use the bin edges of the whole dataset. Labels do not influence bin edges.

    Attributes:
        all: All binned documents, with their labels.
        training: (n_documents,) ascending rows of the training documents, None for all.
        validation: (n_documents,) ascending rows of the validation documents, or None.
    """

    all: lightgbm.Dataset
    training: Int64Array | None = None
    validation: Int64Array | None = None

    def datasets(
        self,
        training: RankingDataset,
        validation: RankingDataset | None = None,
    ) -> dict[str, lightgbm.Dataset]:
        """Return the binned datasets by name: "train" and, with validation data, "validation"."""
        binned = {"train": self.all if self.training is None else self._part(self.training)}
        if self.validation is not None:
            binned["validation"] = self._part(self.validation)
        return binned

    def silent(self) -> "SharedBins":
        """Return itself, since the documents are binned already."""
        return self

    def _part(self, rows: Int64Array) -> lightgbm.Dataset:
        part = self.all.subset([])
        # `subset` sorts a list of Python numbers, which takes a second for a million documents.
        part.used_indices = rows.astype(np.int32)  # type: ignore[assignment]
        return part.construct()


@dataclass(frozen=True)
class Binning:
    """Options of binning, and a cache of bins.

    Attributes:
        hyperparameters: Hyperparameters; the options of binning are part of the cache key.
        parameters: All parameters of the training, which LightGBM compares with the parameters of the bins.
        cached: Cached bins, or None to use no cache.
        on_progress: Called with the documents binned and the total, and at the end with both equal; may
            raise to stop.
    """

    hyperparameters: Hyperparameters
    parameters: Mapping[str, Any]
    cached: CachedBins | None
    on_progress: OnProgress | None = None

    def datasets(
        self, training: RankingDataset, validation: RankingDataset | None = None
    ) -> dict[str, lightgbm.Dataset]:
        """Return the binned datasets "train" and, with validation data, "validation", with the same edges."""
        total = training.n_documents + (validation.n_documents if validation else 0)
        binned = {"train": self._bins(training, self._key("training"), None, self._progress_from(0, total))}
        if validation is not None:
            key = self._key("training", "validation")
            report = self._progress_from(training.n_documents, total)
            binned["validation"] = self._bins(validation, key, binned["train"], report)
        if self.on_progress is not None:
            self.on_progress(total, total)
        return binned

    def silent(self) -> "Binning":
        """Return the same binning without progress reports."""
        return replace(self, on_progress=None)

    def _progress_from(self, first: int, total: int) -> OnProgress | None:
        return None if self.on_progress is None else progress_from(self.on_progress, first, total)

    def _key(self, *parts: str) -> str | None:
        """Return the cache key of bins, None without a cache."""
        names = [getattr(self.cached, part) for part in parts] if self.cached else [None]
        if None in names:
            return None
        inputs = {"lightgbm": lightgbm.__version__, "features": names, **self.hyperparameters.binning()}
        if CATEGORICAL in self.parameters:
            inputs[CATEGORICAL] = self.parameters[CATEGORICAL]
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    def _bins(
        self,
        dataset: RankingDataset,
        key: str | None,
        reference: lightgbm.Dataset | None,
        on_progress: OnProgress | None,
    ) -> lightgbm.Dataset:
        data = self._load(key, dataset.n_documents, reference)
        if data is None:
            edges = reference or self._edges(dataset)
            blocks = FeatureBlocks(dataset.features, on_progress)
            data = self._dataset(blocks, edges, feature_name=writable_names(dataset.feature_names))
            self._store(data, key)
        # Set labels after caching: each job may map them differently.
        data.set_label(dataset.labels)
        return data

    def _edges(self, dataset: RankingDataset) -> lightgbm.Dataset:
        categorical = self.parameters.get(CATEGORICAL, ())
        return bin_edges(dataset.features, self.hyperparameters.binning(), self.parameters, categorical)

    def _load(
        self, key: str | None, n_documents: int, reference: lightgbm.Dataset | None
    ) -> lightgbm.Dataset | None:
        if self.cached is None or key is None:
            return None
        folder = self.cached.cache.find(key)
        if folder is None:
            return None
        try:
            data = self._dataset(str(folder / _FILE), reference)
            if data.num_data() == n_documents:
                return data
        except lightgbm.basic.LightGBMError as error:
            _log.warning("cached bins cannot be used: %s", error)
        self.cached.cache.discard(key)
        return None

    def _store(self, data: lightgbm.Dataset, key: str | None) -> None:
        # A lower bound of the size: each document has at least one byte.
        if self.cached is None or key is None or not self.cached.cache.fits(data.num_data()):
            return
        try:
            with self.cached.cache.adding(key) as folder:
                data.save_binary(folder / _FILE)
        except (OSError, lightgbm.basic.LightGBMError) as error:
            _log.warning("bins cannot be cached: %s", error)

    def _dataset(self, features: Any, reference: lightgbm.Dataset | None, **options: Any) -> lightgbm.Dataset:
        parameters = dict(self.parameters)
        return lightgbm.Dataset(features, reference=reference, params=parameters, **options).construct()


def writable_names(names: Iterable[str]) -> list[str]:
    """Replace the characters of feature names that LightGBM refuses; all names stay distinct.

    A name that LightGBM accepts is never changed, even if a replaced name would equal it.

    Example:
        >>> writable_names(["bm25", "page rank", "page_rank", "price:usd"])
        ['bm25', 'page_rank_', 'page_rank', 'price_usd']
    """
    feature_names = list(names)
    used = {name for name in feature_names if _is_writable(name)}
    spellings = []
    for name in feature_names:
        spelling = name
        if not _is_writable(name):
            spelling = _UNWRITABLE.sub("_", name) or "_"
            while spelling in used:
                spelling += "_"
            used.add(spelling)
        spellings.append(spelling)
    return spellings


def _is_writable(name: str) -> bool:
    return bool(name) and not _UNWRITABLE.search(name)
