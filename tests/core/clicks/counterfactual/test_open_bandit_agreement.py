"""Agreement with st-tech/zr-obp 8cbd5fa, `obp/ope/estimators_slate.py`, run once on the arrays drawn here."""

from typing import cast

import numpy as np
import pytest

from core.clicks.counterfactual import Estimator, evaluate_rankings, rank_weights
from core.clicks.counterfactual.importance import (
    SlotEstimator,
    doubly_robust_values,
    importance_weights,
    weights_of_impressions_above,
)
from tests.core.clicks.counterfactual.logs import log_of, ranking_of

# SlateStandardIPS, SlateIndependentIPS, SlateRewardInteractionIPS and SlateCascadeDoublyRobust
STOCHASTIC = {
    "slate": 1.5287533693900612,
    "item_position": 1.160441585309701,
    "reward_interaction": 1.3863090712858803,
}
DOUBLY_ROBUST = 1.2961344050848425
# The same and their self-normalised forms, SelfNormalizedSlate…, with a policy of probabilities 0 and 1
DETERMINISTIC = {
    ("slate", False): 0.754454442803584,
    ("item_position", False): 0.4625545457857207,
    ("reward_interaction", False): 0.701954442803584,
    ("slate", True): 0.698568928521837,
    ("item_position", True): 0.6008110388110659,
    ("reward_interaction", True): 0.6650721964956933,
}


def test_importance_weights_of_a_random_policy() -> None:
    """The weighted rewards sum to the values of Open Bandit Pipeline, and so do the doubly robust ones."""
    rng = np.random.default_rng(2024)
    n, length, actions = 60, 3, 5
    taken = np.array([rng.permutation(actions)[:length] for _ in range(n)])
    logged = rng.random((n, length)) * 0.6 + 0.2
    new = rng.random((n, length))
    rewards = (rng.random((n, length)) < 0.4).astype(float).ravel()
    ratios, boundaries = (new / logged).ravel(), np.arange(n + 1) * length
    for estimator, value in STOCHASTIC.items():
        weights = importance_weights(cast("SlotEstimator", estimator), ratios, boundaries)
        assert (rewards * weights).sum() / n == pytest.approx(value, abs=1e-9)

    policy = rng.random((n, length, actions))
    policy /= policy.sum(axis=2, keepdims=True)
    predicted = rng.random((n, length, actions))
    shown = np.take_along_axis(predicted, taken[:, :, None], axis=2).ravel()
    expected = (policy * predicted).sum(axis=2).ravel()
    weights = importance_weights("cascade_doubly_robust", ratios, boundaries)
    values = doubly_robust_values(
        rewards, weights, weights_of_impressions_above(weights, boundaries), shown, expected
    )
    assert values.sum() / n == pytest.approx(DOUBLY_ROBUST, abs=1e-9)


@pytest.mark.parametrize(("estimator", "normalised"), list(DETERMINISTIC))
def test_estimates_equal_those_of_open_bandit_pipeline(estimator: Estimator, normalised: bool) -> None:
    """DCG of new rankings from a log of random permutations is that of Open Bandit Pipeline."""
    rng = np.random.default_rng(7)
    n, length, n_queries = 400, 3, 4
    queries = rng.integers(0, n_queries, n)
    documents = np.array([rng.permutation(length) for _ in range(n)])
    propensities = np.tile(1.0 / np.array([3.0, 2.0, 1.0]), (n, 1))
    clicks = (rng.random((n, length)) < 0.3).astype(float)
    order = np.array([rng.permutation(length) for _ in range(n_queries)])
    log = log_of(queries, documents, clicks, propensities, n_documents=length)
    ranking = ranking_of("new", order)
    found = evaluate_rankings(log, [ranking], rank_weights("dcg@3"), estimator, normalised=normalised)
    # Propensities of a log are float32: 1/3 is off by 1e-8.
    value = found.estimated[1].estimate.value
    assert value == pytest.approx(DETERMINISTIC[estimator, normalised], abs=1e-7)
