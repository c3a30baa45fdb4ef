"""The estimate of what a training takes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from core.data import RankingDataset
from core.data import features as matrices
from core.training import train, training_spec
from core.training.memory import memory_need
from worker.job.limits import memory_bytes


@contextmanager
def watching() -> Iterator[list[int]]:
    """Note the memory that the block takes at most, from time to time."""
    before, ended, most = memory_bytes() or 0, threading.Event(), [0]

    def look() -> None:
        while not ended.wait(0.002):
            most[0] = max(most[0], (memory_bytes() or 0) - before)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


def judged(n_queries: int, n_features: int) -> RankingDataset:
    """Make queries of 50 documents whose features are in a file."""
    features = matrices.new_matrix(50 * n_queries, n_features)
    generator = np.random.default_rng(0)
    for rows, block in matrices.row_blocks(features):
        features[rows] = generator.normal(size=block.shape)
    labels = np.clip(features[:, 0], 0, 4).round()
    return RankingDataset.from_arrays(features, labels, np.arange(0, len(features) + 1, 50))


@pytest.mark.long
@pytest.mark.skipif(memory_bytes() is None, reason="this system does not tell a process its memory")
def test_a_training_takes_no_more_than_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """With parts held out whose features are in a file."""
    monkeypatch.setattr(matrices, "IN_MEMORY_BYTES", 0)
    dataset = judged(8_000, 30)
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 2}})
    train(spec, dataset.select_queries(range(20)), threads=2)  # what is loaded and compiled once
    part, rest = (
        dataset.select_queries(np.arange(0, 8_000, 2)),
        dataset.select_queries(np.arange(1, 8_000, 4)),
    )
    need = memory_need(spec, part, rest)
    with watching() as most:
        train(spec, part, rest, threads=2)
    assert 0 < most[0] <= need.total


def test_the_estimate_says_what_for() -> None:
    """The parts, in MiB, and two bytes a bin where one does not do."""
    dataset = judged(2_000, 20)
    spec = training_spec({"loss": {"name": "lambdarank"}})
    wide = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"max_bin": 1_000}})
    assert memory_need(wide, dataset).bins == 2 * memory_need(spec, dataset).bins == 2 * 100_000 * 20
    told = str(memory_need(spec, dataset))
    assert "2 for features in bins" in told
    assert "features of linear leaves" not in told


def test_features_in_memory_are_not_counted_again() -> None:
    """A job has them already; linear leaves alone take a copy."""
    dataset = judged(2_000, 20)
    halves = dataset.select_queries(range(1_000)), dataset.select_queries(range(1_000, 2_000))
    spec = training_spec({"loss": {"name": "lambdarank"}})
    linear = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"linear_tree": True}})
    assert memory_need(spec, *halves).raw == 0
    assert memory_need(linear, *halves).raw == dataset.features.nbytes
