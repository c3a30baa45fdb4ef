"""Compile, or load from the disk cache, the kernels of training that are no loss or metric."""

import numpy as np

from core.training.derivatives import rounded_at_random
from core.training.sampling import drawn_queries


def draws() -> None:
    """Draw queries and rounded gradients."""
    drawn_queries(0.5, 2, 0, 0)
    rounded_at_random(np.ones(2, np.float32), 2, np.uint64(0))
