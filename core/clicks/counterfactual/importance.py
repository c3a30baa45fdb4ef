"""Importance weights of impressions (new probability over logged propensity), and weights of ranks."""

from typing import Literal

import numpy as np

from core.errors import InvalidInput
from core.gains import inverse_discounts
from core.metrics.binary import Precision, RankBiasedPrecision
from core.metrics.dcg import Dcg, Ndcg
from core.metrics.registry import parse_metric
from core.types import Float64Array, FloatArray, Int64Array

SlotEstimator = Literal["slate", "item_position", "reward_interaction", "cascade_doubly_robust"]


def importance_weights(
    estimator: SlotEstimator, ratios: Float64Array, boundaries: Int64Array
) -> Float64Array:
    """Return the weight of each impression.

    The weight depends on the ratio ρ = π_new / π_logged of a document at its rank. `item_position` uses ρ
    itself (Li et al. 2018). `reward_interaction` and `cascade_doubly_robust` use the product of the ratios at
    this rank and above (McInerney et al. 2020, equation 5). `slate` uses the product over the whole list.

    Args:
        estimator: Estimator, which implies an assumption on how documents of a list influence clicks.
        ratios: (n_impressions,) ratios ρ, ordered by rank within a list. Where ranks of a list depend on each
            other, the ratios are conditional on the documents above.
        boundaries: (n_lists + 1,) offsets of the lists.

    Example:
        >>> ratios, boundaries = np.array([2.0, 3.0, 0.5]), np.array([0, 2, 3])
        >>> importance_weights("reward_interaction", ratios, boundaries).tolist()
        [2.0, 6.0, 0.5]
        >>> importance_weights("slate", ratios, boundaries).tolist()
        [6.0, 6.0, 0.5]
    """
    if estimator == "item_position":
        return ratios
    products = _products_from_top(ratios, boundaries)
    if estimator != "slate":
        return products
    lengths = np.diff(boundaries)
    last = boundaries[1:][lengths > 0] - 1
    return np.repeat(products[last], lengths[lengths > 0])


def _products_from_top(ratios: Float64Array, boundaries: Int64Array) -> Float64Array:
    products = ratios.copy()
    starts, lengths = boundaries[:-1], np.diff(boundaries)
    for position in range(1, int(lengths.max(initial=0))):
        rows = starts[lengths > position] + position
        products[rows] *= products[rows - 1]
    return products


def weights_of_impressions_above(weights: Float64Array, boundaries: Int64Array) -> Float64Array:
    """Return for each impression the weight of the impression above it, 1 at the top of a list."""
    shifted = np.empty_like(weights)
    shifted[1:] = weights[:-1]
    tops = boundaries[:-1][np.diff(boundaries) > 0]
    shifted[tops] = 1.0
    return shifted


def doubly_robust_values(
    rewards: Float64Array,
    weights: Float64Array,
    weights_above: Float64Array,
    predicted: Float64Array,
    expected: Float64Array,
) -> Float64Array:
    """Return w_{1:l} (r_l − Q_l) + w_{1:l−1} E_new[Q_l] of each impression (Kiyohara et al. 2022).

    Args:
        rewards: (n_impressions,) weighted rewards r_l.
        weights: (n_impressions,) products of the ratios down to each rank.
        weights_above: (n_impressions,) products down to the rank above.
        predicted: (n_impressions,) Q_l: predicted rewards from this rank on, with the document shown.
        expected: (n_impressions,) predicted rewards from this rank on, with the new ranking's document.
    """
    return weights * (rewards - predicted) + weights_above * expected


def logged_probabilities(propensities: FloatArray | None) -> Float64Array:
    """Return the propensities of a log after a check.

    Raises:
        InvalidInput: The log has no propensities, or a propensity is not in (0, 1].
    """
    if propensities is None:
        raise InvalidInput.at(
            "/estimator",
            "needs the logged probability of each document at its rank, and this log has no propensities;"
            " use `examination` with the examination probability of each rank",
        )
    probabilities = np.asarray(propensities, np.float64)
    if len(probabilities) and not (probabilities.min() > 0.0 and probabilities.max() <= 1.0):
        raise InvalidInput.at("/estimator", "the log has propensities outside (0, 1]")
    return probabilities


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
            raise InvalidInput.at("", f"the cutoff of clicks must be a whole number from 1 to {_MAX_CUTOFF}")
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
    raise InvalidInput.at("", f"{spelling} is not a sum over clicked documents; use {_ADDITIVE_METRICS}")
