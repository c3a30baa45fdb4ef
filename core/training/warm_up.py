"""Compile, or load from the disk cache, every kernel a training needs."""

import numpy as np

from core.losses import warm_up as losses
from core.metrics import warm_up as metrics
from core.training.derivatives import rounded_at_random
from core.training.sampling import drawn_queries


def warm_up() -> None:
    """Call each loss and metric once on a tiny query, and draw."""
    losses.pairwise()
    losses.others()
    metrics.binary()
    metrics.others()
    draws()


def draws() -> None:
    """Draw queries and rounded gradients."""
    drawn_queries(0.5, 2, 0, 0)
    rounded_at_random(np.ones(2, np.float32), 2, np.uint64(0))
