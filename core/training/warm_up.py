"""Compile, or load from numba's disk cache, every kernel a training needs."""

import numpy as np

from core.losses import LOSSES, make_loss
from core.metrics import METRICS, parse_metric
from core.training.derivatives import rounded_at_random
from core.training.sampling import drawn_queries


def warm_up() -> None:
    """Call each loss and metric once on a tiny query."""
    scores = np.array([0.3, 0.2, 0.1])
    labels = np.array([0.0, 2.0, 1.0], np.float32)
    query_boundaries = np.array([0, 3], np.int64)
    for name in LOSSES:
        objective = make_loss(name).prepare(labels, query_boundaries)
        objective(scores, 0)
        objective.with_value(scores, 0)
        objective.terms(scores, 0)
    drawn_queries(0.5, 2, 0, 0)
    rounded_at_random(np.ones(2, np.float32), 2, np.uint64(0))
    for name in METRICS:
        parse_metric(name)(scores, labels, query_boundaries)
