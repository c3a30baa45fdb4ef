"""The estimate of the memory of a training."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.data import features as matrices
from core.machine import process_memory_bytes
from core.polling import polling
from core.training import train, training_spec
from core.training.memory import memory_need


@contextmanager
def watching() -> Iterator[list[int]]:
    """Poll the memory of the process during the block; yield a list with its highest increase in bytes."""
    before, peak = process_memory_bytes() or 0, [0]

    def record() -> None:
        peak[0] = max(peak[0], (process_memory_bytes() or 0) - before)

    with polling(record, 0.002, "memory"):
        yield peak


def judged(n_queries: int, n_features: int) -> RankingDataset:
    """Make queries of 50 documents whose features are in a file."""
    features = matrices.new_matrix(50 * n_queries, n_features)
    generator = np.random.default_rng(0)
    for rows, block in matrices.row_blocks(features):
        features[rows] = generator.normal(size=block.shape)
    labels = np.clip(features[:, 0], 0, 4).round()
    return RankingDataset.from_arrays(features, labels, np.arange(0, len(features) + 1, 50))


@pytest.mark.long
@pytest.mark.skipif(process_memory_bytes() is None, reason="memory is known on Linux only")
def test_a_training_takes_no_more_than_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The training has held-out parts, whose features are in a file."""
    monkeypatch.setattr(matrices, "IN_MEMORY_BYTES", 0)
    dataset = judged(8_000, 30)
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 2}})
    train(spec, dataset.select_queries(range(20)), threads=2)  # load and compile code once
    part, rest = (
        dataset.select_queries(np.arange(0, 8_000, 2)),
        dataset.select_queries(np.arange(1, 8_000, 4)),
    )
    need = memory_need(spec, part, rest)
    with watching() as peak:
        train(spec, part, rest, threads=2)
    assert 0 < peak[0] <= need.total


def test_the_estimate_lists_its_parts() -> None:
    """Parts are in MiB; a bin takes two bytes where one is too few."""
    dataset = judged(2_000, 20)
    spec = training_spec({"loss": {"name": "lambdarank"}})
    wide = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"max_bin": 1_000}})
    bins = [memory_need(each, dataset).parts["features in bins"] for each in (spec, wide)]
    assert bins == [100_000 * 20, 2 * 100_000 * 20]
    text = str(memory_need(spec, dataset))
    assert "2 for features in bins" in text
    assert "features of linear leaves" not in text


def test_features_in_memory_are_not_counted_again() -> None:
    """A job already holds the features in memory; only linear leaves need a copy."""
    dataset = judged(2_000, 20)
    halves = dataset.select_queries(range(1_000)), dataset.select_queries(range(1_000, 2_000))
    spec = training_spec({"loss": {"name": "lambdarank"}})
    linear = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"linear_tree": True}})
    copies = [memory_need(each, *halves).parts["features of linear leaves"] for each in (spec, linear)]
    assert copies == [0, dataset.features.nbytes]


NETWORKS: dict[str, dict[str, Any]] = {
    "linear": {"kind": "linear"},
    "quantiles": {"kind": "linear", "inputs": "rank-gauss", "missing_indicators": True},
    "mlp": {"kind": "mlp", "hidden": [256, 128]},
    "wide": {"kind": "mlp", "hidden": [768, 768], "batch_documents": 1_000},
}


@pytest.mark.long
@pytest.mark.skipif(process_memory_bytes() is None, reason="memory is known on Linux only")
@pytest.mark.parametrize(
    "kind",
    ["linear", "mlp", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("quantiles", "wide"))],
)
def test_a_network_takes_no_more_than_estimated(kind: str) -> None:
    """The estimate includes the memory of JAX and of compiling."""
    from core.training.networks import train_network

    dataset = judged(600, 60)
    part, rest = dataset.select_queries(range(400)), dataset.select_queries(range(400, 600))
    spec = training_spec({"loss": {"name": "lambdarank"}, "scorer": {**NETWORKS[kind], "epochs": 1}})
    need = memory_need(spec, part, rest)
    with watching() as peak:
        train_network(spec, part, rest, threads=2)
    assert 0 < peak[0] <= need.total


def test_inputs_in_temporary_files_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inputs of a network are a second matrix beside the features, in memory only where it is small."""
    dataset = judged(40, 20)
    spec = training_spec({"loss": {"name": "lambdarank"}, "scorer": {"kind": "mlp"}})
    assert memory_need(spec, dataset, dataset).parts["inputs"] == 2 * dataset.features.nbytes
    assert "256 for JAX" in str(memory_need(spec, dataset))
    monkeypatch.setattr("core.training.memory.IN_MEMORY_BYTES", dataset.features.nbytes - 1)
    assert memory_need(spec, dataset, dataset).parts["inputs"] == 0


def test_a_large_query_is_a_separate_batch() -> None:
    """The batch is padded to a power of two."""
    features = np.random.default_rng(0).normal(size=(1_100, 3))
    dataset = RankingDataset.from_arrays(features, np.zeros(1_100), [0, 1_050, 1_075, 1_100])
    spec = training_spec(
        {"loss": {"name": "lambdarank"}, "scorer": {"kind": "linear", "batch_documents": 50}}
    )
    small = memory_need(spec, dataset.select_queries([1, 2])).parts["units of a batch"]
    assert memory_need(spec, dataset).parts["units of a batch"] == small // 50 * 2_048


def test_a_sum_needs_memory_for_its_scores_only() -> None:
    """A sum trains nothing."""
    spec = training_spec({"scorer": {"kind": "sum", "models": ["web:1"]}})
    assert set(memory_need(spec, judged(20, 3)).parts) == {"scores"}
