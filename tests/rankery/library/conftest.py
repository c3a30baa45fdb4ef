"""Judged queries in memory."""

from typing import NamedTuple

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.types import Float32Array, Int64Array


class Judged(NamedTuple):
    """Arrays in the forms of LightGBM and scikit-learn, and the same data as core's dataset."""

    X: Float32Array
    y: Float32Array
    group: Int64Array
    groups: Int64Array
    dataset: RankingDataset


def judged_queries(queries: int, seed: int) -> Judged:
    """Draw judged queries."""
    dataset = synthetic_dataset(queries, seed=seed)
    sizes = np.diff(dataset.query_boundaries)
    return Judged(dataset.matrix, dataset.labels, sizes, np.repeat(np.arange(len(sizes)), sizes), dataset)


@pytest.fixture(scope="session")
def judged() -> Judged:
    """Training queries."""
    return judged_queries(40, seed=1)


@pytest.fixture(scope="session")
def validation() -> Judged:
    """Validation queries."""
    return judged_queries(20, seed=2)
