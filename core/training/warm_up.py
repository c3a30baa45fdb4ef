"""Compile the kernels of `core.training`, or load them from the disk cache."""

import numpy as np

from core.scorers import Linear
from core.training.derivatives import rounded_at_random
from core.training.networks.linear import LinearDescent
from core.training.sampling import drawn_queries


def sampling() -> None:
    """Compile the sampling of queries and the random rounding of gradients."""
    drawn_queries(0.5, 2, 0, 0)
    rounded_at_random(np.ones(2, np.float32), 2, np.uint64(0))


def linear_descent() -> None:
    """Compile a step of the training of a linear scorer."""
    layer = {"weights": np.ones((2, 1)), "bias": np.zeros(1)}
    descent = LinearDescent(Linear(), [layer], [layer])
    inputs = np.ones((3, 2), np.float32)
    descent.step(inputs, 3, lambda scores: (0.0, scores.astype(np.float32)), 0.1, 1)
