"""Compile, or load from numba's disk cache, every kernel that evaluations and comparisons need."""

import numpy as np

from core.evaluation.comparison import compare_systems
from core.evaluation.summary import summarise


def warm_up() -> None:
    """Compare two systems on more queries than are enumerated."""
    values = np.random.default_rng(0).random((24, 2))
    compare_systems(["a", "b"], {"ndcg": values}, {"ndcg": True}, permutations=1)
    summarise(values[:, 0])
