"""Compile, or load from the disk cache, every kernel that evaluations and comparisons need."""

import numpy as np

from core.evaluation.bootstrap import bootstrap_intervals
from core.evaluation.randomisation import randomisation_p_values

_DIFFERENCES = np.random.default_rng(0).random((24, 1))


def randomisation() -> None:
    """Test more differences than are enumerated exactly, to run the sampling kernel."""
    randomisation_p_values(_DIFFERENCES, permutations=1)


def bootstrap() -> None:
    """Resample some values once."""
    bootstrap_intervals(_DIFFERENCES, resamples=1)
