"""Compile, or load from numba's disk cache, every kernel of the doctor."""

import numpy as np

from core.data import RankingDataset
from core.doctor.comparison import compare
from core.doctor.examination import examine


def warm_up() -> None:
    """Examine a tiny dataset, and compare it with itself."""
    dataset = RankingDataset.from_arrays(np.eye(3), [0, 1, 2], [0, 3])
    examine(dataset)
    compare(dataset, dataset, "test")
