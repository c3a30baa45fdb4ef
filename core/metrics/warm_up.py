"""Compile, or load from the disk cache, every kernel of the metrics."""

import numpy as np

from core.metrics import METRICS, parse_metric
from core.metrics.ranked import ideal_labels

_SCORES = np.array([0.3, 0.2, 0.1])
_LABELS = np.array([0.0, 2.0, 1.0], np.float32)
_BOUNDARIES = np.array([0, 3], np.int64)
_BINARY = "core.metrics.binary"


def ranked() -> None:
    """Rank labels, as all metrics do."""
    ideal_labels(_LABELS, _BOUNDARIES)


def binary() -> None:
    """Compute each metric of `core.metrics.binary` on a tiny query."""
    _measure(binary=True)


def other_metrics() -> None:
    """Compute each metric outside `core.metrics.binary` on a tiny query."""
    _measure(binary=False)


def _measure(*, binary: bool) -> None:
    for name, metric in METRICS.items():
        if (metric.__module__ == _BINARY) == binary:
            for ties in ("stable", "average"):
                parse_metric(name, {"ties": ties})(_SCORES, _LABELS, _BOUNDARIES)
