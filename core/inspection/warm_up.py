"""Compile, or load from numba's disk cache, every kernel that an inspection needs."""

import numpy as np

from core.inspection.permutation import shuffle


def shuffles() -> None:
    """Shuffle feature values and row numbers."""
    for kind in (np.float32, np.int64):
        shuffle(np.zeros(1, kind), np.array([0, 1]), np.uint64(0), 0)
