"""Estimate the memory of a training before its start."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.data.features import IN_MEMORY_BYTES
from core.scorers import NetworkScorer
from core.training.spec import TrainingSpec

# Determined with LightGBM 4.7: scores, derivatives, rows of leaves, and the layout of the loss.
_BYTES_PER_TRAINING_DOCUMENT = 56
_BYTES_PER_SCORED_DOCUMENT = 24
_BYTES_PER_HISTOGRAM_BIN = 16
_ONE_BYTE_BINS = 256
_SAMPLE_BYTES = 2**25
# Measured with JAX 0.10, see the test: simultaneous copies of each weight and of each unit of a batch, and
# the memory of JAX and its compiler.
_WEIGHT_COPIES = 20
_UNIT_COPIES = 3
_LINEAR_BYTES, _HIDDEN_BYTES = 96 * 2**20, 256 * 2**20
_SCALED_CELLS, _SCALED_CELL_BYTES = 2**22, 16  # one block of scaled features: float64 and the result
_QUANTILE_ROWS, _QUANTILE_CELL_BYTES = 200_000, 20


@dataclass(frozen=True)
class MemoryNeed:
    """The memory of a training.

    Attributes:
        parts: Bytes by purpose.
    """

    parts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return the total in bytes."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        parts = ", ".join(
            f"{size / 2**20:,.0f} for {name}" for name, size in self.parts.items() if size >= 2**20
        )
        return f"{self.total / 2**20:,.0f} MiB" + (f" ({parts})" if parts else "")


def memory_need(
    spec: TrainingSpec, training: RankingDataset, validation: RankingDataset | None = None
) -> MemoryNeed:
    """Estimate the peak memory of a training, in addition to the current memory of the process."""
    parts = [training] if validation is None else [training, validation]
    scored_bytes = sum(part.n_documents for part in parts) * _BYTES_PER_SCORED_DOCUMENT
    if not spec.trains_scorer:
        return MemoryNeed({"scores": scored_bytes})
    training_bytes = {
        "scores and derivatives": scored_bytes + training.n_documents * _BYTES_PER_TRAINING_DOCUMENT
    }
    if isinstance(spec.scorer, NetworkScorer):
        return MemoryNeed(training_bytes | _network_bytes(spec.scorer, parts))
    return MemoryNeed(training_bytes | _tree_bytes(spec, parts))


def _tree_bytes(spec: TrainingSpec, parts: list[RankingDataset]) -> dict[str, int]:
    hyperparameters, training = spec.hyperparameters, parts[0]
    bin_bytes = 1 if hyperparameters.max_bin < _ONE_BYTE_BINS else 2
    leaf_bins = training.n_features * min(hyperparameters.max_bin, training.n_documents)
    linear = sum(part.features.nbytes for part in parts) if hyperparameters.linear_tree else 0
    return {
        "features in bins": sum(part.n_documents * part.n_features for part in parts) * bin_bytes,
        "histograms": hyperparameters.num_leaves * leaf_bins * _BYTES_PER_HISTOGRAM_BIN,
        "features of linear leaves": linear,
        "the sample for bin edges": _SAMPLE_BYTES,
    }


def _network_bytes(scorer: NetworkScorer, parts: list[RankingDataset]) -> dict[str, int]:
    training = parts[0]
    n_inputs = training.n_features * (2 if scorer.missing_indicators else 1)
    inputs = [4 * part.n_documents * n_inputs for part in parts]
    sizes = (n_inputs, *scorer.hidden_layers, 1)
    n_weights = sum(n * m + 3 * m for n, m in itertools.pairwise(sizes))
    scaled = min(_SCALED_CELLS, training.n_documents * n_inputs) * _SCALED_CELL_BYTES
    if scorer.inputs == "rank-gauss":
        sample = min(_QUANTILE_ROWS, training.n_documents) * training.n_features
        scaled = max(scaled, sample * _QUANTILE_CELL_BYTES)
    return {
        # Larger inputs are memory-mapped temporary files, whose pages do not count as process memory.
        "inputs": sum(size for size in inputs if size <= IN_MEMORY_BYTES),
        "scaling": scaled,
        "units of a batch": 4 * _UNIT_COPIES * _batch_rows(scorer, training) * sum(sizes),
        "weights and the optimiser's state": 4 * _WEIGHT_COPIES * n_weights,
        "JAX": _HIDDEN_BYTES if scorer.hidden_layers else _LINEAR_BYTES,
    }


def _batch_rows(scorer: NetworkScorer, training: RankingDataset) -> int:
    """Return the rows of the largest batch; a query above the batch size is padded to a power of two."""
    largest = int(np.diff(training.query_boundaries).max())
    usual = min(scorer.batch_size(training.n_documents), training.n_documents)
    return usual if largest <= usual else 1 << (largest - 1).bit_length()
