"""Compile, or load from numba's disk cache, every kernel that diagnostics need."""

import numpy as np

from core.diagnostics.diagnosis import diagnose
from core.losses import make_loss


def losses() -> None:
    """Diagnose one loss on a tiny query with float32 labels, as datasets have."""
    scores, boundaries = np.array([0.3, 0.2, 0.1]), np.array([0, 3], np.int64)
    diagnose(make_loss("lambdarank"), scores, np.array([0.0, 2.0, 1.0], np.float32), boundaries, cutoff=1)
