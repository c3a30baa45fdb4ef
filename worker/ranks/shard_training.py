"""Train on one rank's shard: gradients of its queries, its share of each tree, and its metrics."""

from collections.abc import Callable, Mapping
from typing import Any

import lightgbm
import numpy as np

from core.data import RankingDataset
from core.machine import release_heap
from core.ranges import use_threads
from core.training.bin_edges import FeatureBlocks, edges_from_bytes, progress_from
from core.training.binning import writable_names
from core.training.checkpoint import Checkpoint
from core.training.grower import Grower, lightgbm_parameters
from core.training.history import METRICS
from core.training.leaf_counts import leaf_counts
from core.training.measure import Measure
from core.training.spec import TrainingSpec
from core.types import Float32Array, Float64Array, Int64Array, OnProgress
from worker.ranks.collectives import Collectives
from worker.ranks.parts import Part

TRAIN = "train"


class ShardTraining:
    """Training state of a rank, from loading to the last tree.

    Args:
        parts: Queries of the rank by dataset, "train" and optionally "validation".
        categories: Values of categorical features by name.
    """

    def __init__(
        self,
        spec: TrainingSpec,
        parts: Mapping[str, Part],
        feature_names: tuple[str, ...],
        categories: Mapping[str, list[str]],
        threads: int,
    ) -> None:
        use_threads(threads)
        self._spec = spec
        self._threads = threads
        self._parts = parts
        self._datasets = {name: part.dataset(feature_names, categories) for name, part in parts.items()}
        self._binned: dict[str, lightgbm.Dataset] = {}
        self._grower: Grower | None = None

    def sample(self, rows: Int64Array) -> Float32Array:
        """Return the features of some of the training documents, (n, n_features)."""
        return np.asarray(self._datasets[TRAIN].features[rows], np.float32)

    def bin_features(self, edges: bytes, on_progress: OnProgress) -> None:
        """Read all features block by block, and bin them by edges common to all ranks.

        Args:
            edges: Edges of the bins, see `core.training.bin_edges`.
            on_progress: Called with the number of documents read and the total.
        """
        parameters = lightgbm_parameters(self._spec, self._datasets[TRAIN], self._threads)
        reference = edges_from_bytes(edges, parameters)
        total = sum(dataset.n_documents for dataset in self._datasets.values())
        done = 0
        for name, dataset in self._datasets.items():
            blocks = FeatureBlocks(dataset.features, progress_from(on_progress, done, total))
            data = lightgbm.Dataset(
                blocks,
                reference=reference,
                params=dict(parameters),
                feature_name=writable_names(dataset.feature_names),
            ).construct()
            data.set_label(dataset.labels)
            self._binned[name] = data
            done += dataset.n_documents
        release_heap()  # read buffers are a fifth of the memory of the rank

    def start(
        self,
        collectives: Collectives,
        model_text: str,
        scores: dict[str, Float64Array],
        iterations_done: int,
        on_histograms: Callable[[], None],
    ) -> None:
        """Prepare for the first tree, or resume a training.

        Args:
            model_text: Trees so far, or an empty text.
            scores: Present scores by dataset; empty if all are 0.
            on_histograms: Called between the gradients of a tree and its histograms.
        """
        collectives.attach()
        part = self._parts[TRAIN]
        shard = _ShardPosition(collectives, part, on_histograms)
        history: list[Any] = [None] * iterations_done
        resume = Checkpoint(model_text, scores, 0, -np.inf, history) if scores else None
        training, validation = self._datasets[TRAIN], self._datasets.get("validation")
        # LightGBM reads the number of ranks from the parameters of the data, too.
        self._grower = Grower(
            self._spec, training, validation, self._threads, _BinnedDatasets(self._binned), resume, shard
        )
        collectives.stopwatch = self._grower.stopwatch
        self._measures = {name: Measure(self._spec, data) for name, data in self._datasets.items()}

    @property
    def datasets(self) -> list[RankingDataset]:
        """Return the datasets of the shard, the training data first."""
        return list(self._datasets.values())

    @property
    def grower(self) -> Grower:
        """Return the grower of the trees.

        Raises:
            RuntimeError: `start` has not been called.
        """
        if self._grower is None:
            raise RuntimeError("the rank has not been started")
        return self._grower

    def values(self) -> dict[str, dict[str, Float64Array]]:
        """Return values of each query, (n_queries,), by dataset and name.

        The names are those of the metrics and, for the training data only, "loss".
        """
        grower, values = self.grower, {}
        with grower.stopwatch.timing(METRICS):
            for name in self._datasets:
                scores = grower.scores(name)
                losses = {"loss": np.array(grower.losses(scores))} if name == TRAIN else {}
                values[name] = losses | self._measures[name].by_query(scores)
        return values

    def scores(self) -> dict[str, Float64Array]:
        """Return the present scores by dataset."""
        return {name: self.grower.scores(name).copy() for name in self._datasets}

    def leaf_counts(self, model_text: str) -> Int64Array:
        """Count the training documents in each leaf of a model; see `core.training.leaf_counts`.

        Features are read again; the binned documents and the booster are freed first.
        """
        self._grower, self._binned = None, {}
        release_heap()
        return leaf_counts(model_text, self._datasets[TRAIN].features, self._threads)


class _ShardPosition:
    """Implementation of `core.training.grower.Shard`."""

    def __init__(self, collectives: Collectives, part: Part, on_histograms: Callable[[], None]) -> None:
        self.n_ranks = collectives.n_ranks
        self.first_query = part.first_query
        self.n_queries = part.all_queries
        self._collectives = collectives
        self._on_histograms = on_histograms

    def largest(self, values: Float64Array) -> Float64Array:
        largest = self._collectives.largest(values)
        self._on_histograms()
        return largest


class _BinnedDatasets:
    """Binned datasets in the interface that `Grower` expects of a binning."""

    def __init__(self, binned: dict[str, lightgbm.Dataset]) -> None:
        self._binned = binned

    def datasets(
        self, _training: RankingDataset, _validation: RankingDataset | None = None
    ) -> dict[str, lightgbm.Dataset]:
        return self._binned

    def silent(self) -> "_BinnedDatasets":
        return self
