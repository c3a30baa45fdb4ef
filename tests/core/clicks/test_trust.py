"""Trust bias estimated from clicks."""

import numpy as np
import pytest

from core.clicks.log import ClickLog
from core.clicks.propensities import PropensityPlan, estimate_propensities
from core.clicks.simulation import SimulationPlan, Truth, simulate
from core.clicks.trust import expected_relevance, fisher_step, trust_em
from core.clicks.users import UserModel
from core.data import RankingDataset
from core.errors import InvalidInput

RANKS = 6


def simulated(lists: int, seed: int = 0) -> tuple[ClickLog, Truth, np.ndarray]:
    """Return a log of users with trust bias, the true parameters, and features with the true log-odds."""
    stream = np.random.default_rng(5)
    labels = stream.integers(5, size=300 * RANKS).astype(np.float32)
    dataset = RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, np.arange(301) * RANKS)
    scores = labels + stream.normal(0.0, 2.0, size=len(labels))
    users = UserModel("trust", attraction=(0.1, 0.2, 0.4, 0.6, 0.9))
    log, truth = simulate(dataset, [scores], users, SimulationPlan(lists=lists, seed=seed))
    log_odds = np.log(truth.attraction / (1.0 - truth.attraction))
    features = np.column_stack([log_odds, stream.normal(size=len(labels))])
    return log, truth, features.astype(np.float32)


def affine_truth(log: ClickLog, truth: Truth, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes relative to rank 1, and the clicks on the least attractive share of impressions."""
    assert truth.slopes is not None
    assert truth.intercepts is not None
    shown = np.sort(truth.attraction[log.pairs[log.ranks <= RANKS]])
    irrelevant = shown[: int(share * len(shown))].mean()
    slopes, intercepts = truth.slopes[:RANKS], truth.intercepts[:RANKS]
    return slopes / slopes[0], intercepts + slopes * irrelevant


def test_true_slopes_and_intercepts_are_recovered() -> None:
    """All true slopes, except one at most, are within their narrow intervals; intercepts are close."""
    log, truth, features = simulated(40_000)
    found = estimate_propensities(
        log, PropensityPlan(method="trust-em", positions=RANKS, resamples=8), features
    )
    slopes, intercepts = affine_truth(log, truth)
    assert found.intercepts is not None
    assert found.intercepts_lower is not None
    assert found.intercepts_upper is not None
    assert ((found.lower <= slopes) & (slopes <= found.upper)).sum() >= RANKS - 1
    assert (found.upper[1:] / found.lower[1:] < 1.5).all()
    np.testing.assert_allclose(found.intercepts, intercepts, atol=0.02)
    assert (found.intercepts_lower < found.intercepts).all()
    assert (found.intercepts_upper - found.intercepts_lower < 0.1).all()
    assert "An irrelevant document is clicked with probability 0.4" in found.summary


def test_features_without_information_do_not_lower_intercepts() -> None:
    """Trees do not overfit to documents that got few clicks by chance."""
    log, truth, features = simulated(5_000)
    noise = np.random.default_rng(9).normal(size=(len(features), 20)).astype(np.float32)
    plan = PropensityPlan(method="trust-em", positions=RANKS, resamples=0)
    found = estimate_propensities(log, plan, np.hstack([features, noise]))
    slopes, intercepts = affine_truth(log, truth)
    assert found.intercepts is not None
    np.testing.assert_allclose(found.intercepts, intercepts, atol=0.05)
    np.testing.assert_allclose(found.values, slopes, atol=0.4)


def test_without_trust_bias_intercepts_are_0() -> None:
    """Without trust bias, intercepts are the click rates of the least attractive documents, here 0."""
    stream = np.random.default_rng(1)
    gamma = np.repeat([0.0, 0.5, 1.0], 200)
    shown = np.full((600, 3), 100.0)
    theta = np.array([0.8, 0.5, 0.2])
    clicked = stream.binomial(100, gamma[:, np.newaxis] * theta).astype(float)
    found = trust_em(shown, clicked, gamma[:, np.newaxis].astype(np.float32), "logistic")
    np.testing.assert_allclose(found.slopes, theta / theta[0], rtol=0.05)
    np.testing.assert_allclose(found.intercepts, 0.0, atol=0.01)


def test_expected_relevance_follows_bayes_theorem() -> None:
    """An impression is relevant by Bayes' theorem, with a click and without."""
    shown, clicked = np.array([[10.0, 4.0], [6.0, 8.0]]), np.array([[5.0, 1.0], [2.0, 1.0]])
    gamma, upper, lower = np.array([0.3, 0.6]), np.array([0.9, 0.5]), np.array([0.4, 0.1])
    expected = np.zeros((2, 2))
    for pair, rank in np.ndindex(2, 2):
        g, u, v = gamma[pair], upper[rank], lower[rank]
        expected[pair, rank] = clicked[pair, rank] * g * u / (g * u + (1 - g) * v)
        skips = shown[pair, rank] - clicked[pair, rank]
        expected[pair, rank] += skips * g * (1 - u) / (g * (1 - u) + (1 - g) * (1 - v))
    np.testing.assert_allclose(expected_relevance(shown, clicked, gamma, upper, lower), expected, rtol=1e-12)


def test_a_scoring_step_is_weighted_least_squares() -> None:
    """A step is weighted least squares of click rates on γ; repeated, it ends where the score vanishes."""
    stream = np.random.default_rng(2)
    gamma, shown = stream.random(50), stream.integers(20, 60, size=(50, 2)).astype(float)
    clicked = stream.binomial(shown.astype(int), gamma[:, np.newaxis] * [0.5, 0.3] + [0.3, 0.1]).astype(float)
    upper, lower = np.array([0.7, 0.5]), np.array([0.2, 0.2])
    found = fisher_step(shown, clicked, gamma, upper, lower)
    for rank in range(2):
        rates = gamma * upper[rank] + (1 - gamma) * lower[rank]
        root = np.sqrt(shown[:, rank] / (rates * (1 - rates)))
        design = np.column_stack([gamma, 1 - gamma]) * root[:, np.newaxis]
        expected = np.linalg.lstsq(design, root * clicked[:, rank] / shown[:, rank], rcond=None)[0]
        np.testing.assert_allclose([found[0][rank], found[1][rank]], expected, rtol=1e-9)
    for _ in range(30):
        upper, lower = fisher_step(shown, clicked, gamma, upper, lower)
    rates = gamma[:, np.newaxis] * upper + (1 - gamma)[:, np.newaxis] * lower
    score = (clicked - shown * rates) / (rates * (1 - rates))
    np.testing.assert_allclose([score.sum(axis=0), (score * gamma[:, np.newaxis]).sum(axis=0)], 0, atol=1e-6)


def test_unusable_logs_are_refused() -> None:
    """Ranks without clicks, clicks that fall with relevance, and logs without features are refused."""
    gamma = np.repeat([0.1, 0.9], 60)
    features, shown = gamma[:, np.newaxis].astype(np.float32), np.full((120, 2), 100.0)
    with pytest.raises(InvalidInput, match="no click at rank 2"):
        trust_em(shown, np.column_stack([shown[:, 0], np.zeros(120)]), features)
    reversed_ranks = np.column_stack([100 * gamma, 60 - 20 * gamma])
    with pytest.raises(InvalidInput, match="do not increase with the relevance"):
        trust_em(shown, reversed_ranks, features)
    with pytest.raises(InvalidInput, match="no feature predicts clicks"):
        trust_em(shown, shown / 2, np.zeros_like(features))
    log, _, _ = simulated(500)
    with pytest.raises(InvalidInput, match="/dataset_id: trust-em needs the features"):
        estimate_propensities(log, PropensityPlan(method="trust-em"))
