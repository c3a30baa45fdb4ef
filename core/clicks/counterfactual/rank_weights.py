"""Weights of ranks in metrics that are sums over clicks."""

import numpy as np

from core.errors import InvalidInput
from core.gains import inverse_discounts
from core.metrics.binary import Precision, RankBiasedPrecision
from core.metrics.dcg import Dcg, Ndcg
from core.metrics.registry import parse_metric
from core.types import Float64Array

_DEFAULT_CUTOFF = 10  # cutoff of a metric whose name has no cutoff
_MAX_CUTOFF = 999_999  # the greatest cutoff that `parse_metric` accepts
_ADDITIVE_METRICS = "dcg@k, precision@k, rbp@k or clicks@k"


def rank_weights(spelling: str) -> Float64Array:
    """Return the weight of a click at each rank from 1, (k,).

    dcg: 1/D(r); precision: 1/k; rbp: (1 − p) p^(r − 1); clicks: 1. Without a cutoff, k is 10.

    Raises:
        InvalidInput: The metric is unknown or not a sum over clicks.

    Example:
        >>> rank_weights("dcg@3").round(3).tolist(), rank_weights("precision@2").tolist()
        ([1.0, 0.631, 0.5], [0.5, 0.5])
    """
    name, _, cutoff = spelling.partition("@")
    if name == "clicks":
        if cutoff and not (cutoff.isdecimal() and 0 < int(cutoff) <= _MAX_CUTOFF):
            raise InvalidInput.at(
                "/metric", f"the cutoff of clicks must be a whole number from 1 to {_MAX_CUTOFF}"
            )
        return np.ones(int(cutoff or _DEFAULT_CUTOFF))
    metric = parse_metric(spelling)
    depth = metric.cutoff or _DEFAULT_CUTOFF
    if isinstance(metric, Dcg) and not isinstance(metric, Ndcg):
        return inverse_discounts(metric.conventions.discount, depth)
    if isinstance(metric, Precision):
        return np.full(depth, 1.0 / depth)
    if isinstance(metric, RankBiasedPrecision):
        persistence = metric.persistence
        return np.asarray((1.0 - persistence) * persistence ** np.arange(depth), np.float64)
    raise InvalidInput.at(
        "/metric", f"{spelling} is not a sum over clicked documents; use {_ADDITIVE_METRICS}"
    )
