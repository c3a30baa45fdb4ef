"""Estimation of trust bias: users click irrelevant documents near the top of a list."""

from dataclasses import dataclass

import numpy as np

from core.clicks.regression import NO_PREDICTIVE_FEATURE, classifier_of, require_clicks_at_each_rank, sigmoid
from core.errors import InvalidInput
from core.types import Float32Array, Float64Array

_MIN_PROBABILITY, _MAX_PROBABILITY = 1e-6, 1.0 - 1e-6
_INITIAL_RELEVANT_SHARE = 1.0 / 3.0  # share of relevant documents before the first iteration


@dataclass(frozen=True, eq=False)
class TrustEm:
    """The result of `trust_em`: P(click) = slope γ + intercept, up to the scale of γ.

    Attributes:
        slopes: (n_ranks,) α_k = θ_k (ε⁺_k − ε⁻_k), relative to rank 1.
        intercepts: (n_ranks,) β_k = θ_k ε⁻_k, probability of a click on an irrelevant document.
    """

    slopes: Float64Array
    intercepts: Float64Array


def trust_em(
    shown: Float64Array,
    clicked: Float64Array,
    features: Float32Array,
    classifier: str = "trees",
    *,
    irrelevant_share: float = 0.1,
    iterations: int = 100,
    threads: int = 1,
) -> TrustEm:
    """Fit P(click) = q⁺_k γ(x) + q⁻_k (1 − γ(x)) by regression-EM (Agarwal et al. 2019, section 4).

    q⁺_k = θ_k ε⁺_k and q⁻_k = θ_k ε⁻_k; θ and ε cannot be identified separately from clicks. E-step:
    `expected_relevance`. M-step of γ: one step of the classifier, as in `core.clicks.regression`. q⁺ and q⁻
    take a Fisher scoring step on the observed likelihood (ECME, Liu and Rubin 1994). The paper's M-step needs
    ten times as many iterations.

    The likelihood does not change when γ is replaced by a γ + b and q⁺ and q⁻ are adapted. The scale a does
    not matter: slopes are relative to rank 1, and this choice does not change the order of documents by the
    affine correction. The shift b is fixed by an assumption: impressions of the lowest predicted γ are
    irrelevant.

    Args:
        shown: (n_pairs, n_ranks) impressions.
        clicked: (n_pairs, n_ranks) clicks.
        features: (n_pairs, n_features), NaN where missing. No feature may reveal the rank.
        classifier: `trees` or `logistic`.
        irrelevant_share: Share of the impressions, by lowest γ, that counts as irrelevant.
        threads: Threads for the trees, which do not change the result.

    Raises:
        InvalidInput: A rank has no clicks, clicks at a rank do not rise with relevance, or no feature
            predicts clicks.
    """
    clicks, total = clicked.sum(axis=0), shown.sum(axis=1)
    require_clicks_at_each_rank(clicks)
    rates = clicks / shown.sum(axis=0)
    upper, lower = _bounded(2.0 * rates), _bounded(0.5 * rates)
    model = classifier_of(
        classifier,
        features,
        float(np.log(_INITIAL_RELEVANT_SHARE / (1.0 - _INITIAL_RELEVANT_SHARE))),
        threads,
    )
    gamma = np.full(len(shown), _INITIAL_RELEVANT_SHARE)
    for _ in range(iterations):
        relevant = expected_relevance(shown, clicked, gamma, upper, lower)
        gamma = sigmoid(model.step(relevant.sum(axis=1), total))
        upper, lower = fisher_step(shown, clicked, gamma, upper, lower)
    if np.ptp(gamma) < _MIN_PROBABILITY:
        raise InvalidInput.at("/dataset_id", NO_PREDICTIVE_FEATURE)
    return _identified(upper, lower, _mean_of_lowest(gamma, total, irrelevant_share))


def expected_relevance(
    shown: Float64Array, clicked: Float64Array, gamma: Float64Array, upper: Float64Array, lower: Float64Array
) -> Float64Array:
    """Return the expected number of relevant impressions, (n_pairs, n_ranks).

    P(relevant | click) = q⁺ γ / (q⁺ γ + q⁻ (1 − γ)). Without a click, 1 − q⁺ and 1 − q⁻ replace q⁺ and q⁻.
    """
    share = gamma[:, np.newaxis]
    of_clicks = share * upper / (share * upper + (1.0 - share) * lower)
    of_skips = share * (1.0 - upper) / (share * (1.0 - upper) + (1.0 - share) * (1.0 - lower))
    relevant: Float64Array = clicked * of_clicks + (shown - clicked) * of_skips
    return relevant


def fisher_step(
    shown: Float64Array, clicked: Float64Array, gamma: Float64Array, upper: Float64Array, lower: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Take a step of Fisher scoring: click rates regressed on γ, weighted by n / (p (1 − p)), by rank."""
    share = gamma[:, np.newaxis]
    rates = _bounded(share * upper + (1.0 - share) * lower)
    weights, clicks = shown / (rates * (1.0 - rates)), clicked / (rates * (1.0 - rates))
    mass, mean, square = (np.sum(weights * share**power, axis=0) for power in (0, 1, 2))
    level, slope = clicks.sum(axis=0), (clicks * share).sum(axis=0)
    determinant = mass * square - mean**2
    varies = determinant > _MIN_PROBABILITY * mass * square
    steepness = np.divide(
        mass * slope - mean * level, determinant, out=np.asarray(upper - lower), where=varies
    )
    intercepts = (level - steepness * mean) / mass
    # Bounded separately: γ is determined up to a shift and a scale only. At a shift that needs probabilities
    # below 0, least squares within the bounds would lower the slopes.
    return _bounded(intercepts + steepness), _bounded(intercepts)


def _bounded(probabilities: Float64Array) -> Float64Array:
    return np.clip(probabilities, _MIN_PROBABILITY, _MAX_PROBABILITY)


def _mean_of_lowest(gamma: Float64Array, weights: Float64Array, share: float) -> float:
    """Return the mean γ over the given share of impressions with the lowest γ."""
    order = np.argsort(gamma, kind="stable")
    ends = np.minimum(np.cumsum(weights[order]), share * weights.sum())
    counted = np.diff(ends, prepend=0.0)
    return float((counted * gamma[order]).sum() / counted.sum())


def _identified(upper: Float64Array, lower: Float64Array, irrelevant: float) -> TrustEm:
    slopes = upper - lower
    if not (slopes > 0.0).all():
        rank = int(np.flatnonzero(slopes <= 0.0)[0]) + 1
        raise InvalidInput.at(
            "/positions",
            f"clicks at rank {rank} do not increase with the relevance predicted from features; lower"
            " the value of positions",
        )
    return TrustEm(slopes / slopes[0], np.clip(lower + slopes * irrelevant, 0.0, 1.0))
