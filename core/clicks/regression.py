"""Regression-EM: propensities without randomised ranks, with relevance predicted from features."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, Int64Array

if TYPE_CHECKING:
    import lightgbm

NO_PREDICTIVE_FEATURE = "no feature predicts clicks, so that relevance cannot be estimated from features"
TOO_FEW_PAIRS = "no feature varies in enough documents for trees; the classifier logistic needs fewer"
_MIN_CURVATURE = 1e-6
_RIDGE = 1e-3
_TREES = {
    "objective": "none",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_data_in_leaf": 20,
    "min_sum_hessian_in_leaf": 1e-3,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
    "seed": 0,
}


@dataclass(frozen=True, eq=False)
class RegressionEm:
    """The result of regression-EM.

    Attributes:
        propensities: (n_ranks,) θ, relative to rank 1.
        relevance: (n_pairs,) predicted probability of relevance, relative to the examination of rank 1.
    """

    propensities: Float64Array
    relevance: Float64Array


class Classifier(Protocol):
    """A model of relevance that is fitted one step at a time."""

    def step(self, relevant: Float64Array, total: Float64Array) -> Float64Array:
        """Take a step towards the shares `relevant / total`; return ln(γ / (1 − γ)), (n_pairs,)."""
        ...


def classifier_of(name: str, features: Float32Array, start: float, threads: int) -> Classifier:
    """Return the classifier of pairs, `trees` or `logistic`, with initial log-odds `start`.

    Raises:
        InvalidInput: All pairs have the same features; missing values are equal.
    """
    if np.array_equal(features, np.broadcast_to(features[0], features.shape), equal_nan=True):
        raise InvalidInput.at("/dataset_id", NO_PREDICTIVE_FEATURE)
    return _Trees(features, start, threads) if name == "trees" else _Logistic(features, start)


def regression_em(
    shown: Float64Array,
    clicked: Float64Array,
    features: Float32Array,
    classifier: str = "trees",
    *,
    iterations: int = 100,
    threads: int = 1,
) -> RegressionEm:
    """Fit P(click) = θ_k γ(x) with θ_1 = 1 by a generalised EM algorithm (Wang et al. 2018, section 4).

    E-step: without a click, P(relevant) = (1 − θ_k) γ / (1 − θ_k γ); a clicked document is relevant. M-step:
    θ_k is the share of clicks among the expected relevant documents of rank k. The classifier takes one
    Newton step, or adds one tree, on the expected labels; the paper fits sampled labels. Trees predict each
    half of the pairs by trees for the other half.

    The features must not reveal the rank. Otherwise, as with scores of the production ranker, position bias
    is mistaken for relevance.

    Args:
        shown: (n_pairs, n_ranks) impressions.
        clicked: (n_pairs, n_ranks) clicks.
        features: (n_pairs, n_features), NaN where missing.
        classifier: `trees` or `logistic`.
        threads: Threads for the trees, which do not change the result.

    Raises:
        InvalidInput: A rank has no clicks, all pairs have the same features, or `trees` has too few pairs.
    """
    clicks, total = clicked.sum(axis=0), shown.sum(axis=1)
    require_clicks_at_each_rank(clicks)
    skipped = shown - clicked
    rates = clicks / shown.sum(axis=0)
    theta = np.minimum(rates / rates[0], 1.0)
    start = float(np.log(rates[0] / max(1.0 - rates[0], 1e-6)))
    model = classifier_of(classifier, features, start, threads)
    gamma = np.full(len(shown), rates[0])
    for _ in range(iterations):
        relevant = clicked + skipped * _relevance_of_skipped(theta, gamma)
        theta = np.minimum(clicks / relevant.sum(axis=0), 1.0)
        theta[0] = 1.0
        gamma = sigmoid(model.step(relevant.sum(axis=1), total))
    return RegressionEm(theta, gamma)


def require_clicks_at_each_rank(clicks: Float64Array) -> None:
    """Require a click at each rank.

    Args:
        clicks: (n_ranks,) clicks.

    Raises:
        InvalidInput: A rank has no clicks.
    """
    if not clicks.all():
        rank = int(np.flatnonzero(clicks == 0.0)[0]) + 1
        raise InvalidInput.at("/positions", f"there is no click at rank {rank}; lower the value of positions")


def _relevance_of_skipped(theta: Float64Array, gamma: Float64Array) -> Float64Array:
    """Return P(relevant | no click), (n_pairs, n_ranks)."""
    product = np.minimum(gamma[:, np.newaxis] * theta, 1.0 - 1e-12)
    relevances: Float64Array = (1.0 - theta) * gamma[:, np.newaxis] / (1.0 - product)
    return relevances


def sigmoid(logits: Float64Array) -> Float64Array:
    """Return 1 / (1 + e^−x), with x limited to ±30."""
    probabilities: Float64Array = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
    return probabilities


class _Logistic:
    """Logistic regression by Newton steps, on standardised features; the mean replaces missing values."""

    def __init__(self, features: Float32Array, start: float) -> None:
        inputs = features.astype(np.float64)
        mean = np.nanmean(np.where(np.isnan(inputs).all(axis=0), 0.0, inputs), axis=0)
        inputs = np.where(np.isnan(inputs), 0.0, inputs - mean)
        deviation = inputs.std(axis=0)
        scaled = inputs / np.where(deviation > 0.0, deviation, 1.0)
        self._inputs = np.column_stack([np.ones(len(inputs)), scaled])
        self._weights = np.zeros(self._inputs.shape[1])
        self._weights[0] = start

    def step(self, relevant: Float64Array, total: Float64Array) -> Float64Array:
        """Take a Newton step; return the log-odds, (n_pairs,)."""
        inputs = self._inputs
        gamma = sigmoid(inputs @ self._weights)
        penalty = np.full(inputs.shape[1], _RIDGE * total.sum() / len(total))
        penalty[0] = 0.0
        gradient = inputs.T @ (relevant - total * gamma) - penalty * self._weights
        curvature = np.maximum(total * gamma * (1.0 - gamma), _MIN_CURVATURE)
        hessian = (inputs.T * curvature) @ inputs + np.diag(penalty + _MIN_CURVATURE)
        self._weights = self._weights + np.linalg.solve(hessian, gradient)
        logits: Float64Array = inputs @ self._weights
        return logits


class _Trees:
    """Boosted trees for each half of the pairs, fitted to the other half; a step adds a tree for each.

    Trees overfit the noise of clicks. If they predicted the pairs to which they are fitted, pairs with few
    clicks by chance would seem the least relevant. Click rates of irrelevant documents would be too low.
    """

    def __init__(self, features: Float32Array, start: float, threads: int) -> None:
        first = np.random.default_rng(0).permutation(len(features)) % 2 == 0
        self._halves = [_HalfTrees(features, fitted, start, threads) for fitted in (first, ~first)]

    def step(self, relevant: Float64Array, total: Float64Array) -> Float64Array:
        """Add a tree for each half; return the log-odds, (n_pairs,).

        Raises:
            InvalidInput: There are too few pairs for a split.
        """
        logits = np.empty(len(total))
        for half in self._halves:
            logits[half.others] = half.step(relevant, total)
        return logits


class _HalfTrees:
    """Boosted trees that are fitted to some pairs and predict the others."""

    def __init__(
        self, features: Float32Array, fitted: npt.NDArray[np.bool_], start: float, threads: int
    ) -> None:
        import lightgbm

        self._fitted, self.others = np.flatnonzero(fitted), np.flatnonzero(~fitted)
        parameters = _TREES | {"num_threads": threads}

        def binned(rows: Int64Array, reference: "lightgbm.Dataset | None" = None) -> "lightgbm.Dataset":
            data = lightgbm.Dataset(
                features[rows], np.zeros(len(rows)), reference=reference, params=dict(parameters)
            )
            return data.set_init_score(np.full(len(rows), start))

        data = binned(self._fitted)
        self._booster = lightgbm.Booster(parameters, data)
        self._booster.add_valid(binned(self.others, data), "others")

    def step(self, relevant: Float64Array, total: Float64Array) -> Float64Array:
        """Add a tree; return the log-odds of the other pairs."""
        import lightgbm

        relevant, total = relevant[self._fitted], total[self._fitted]
        log_odds: list[Float64Array] = []

        def derivatives(scores: Float64Array, _: "lightgbm.Dataset") -> tuple[Float64Array, Float64Array]:
            gamma = sigmoid(scores)
            return total * gamma - relevant, np.maximum(total * gamma * (1.0 - gamma), _MIN_CURVATURE)

        def record_scores(scores: Float64Array, _: "lightgbm.Dataset") -> list[tuple[str, float, bool]]:
            log_odds.append(scores.copy())
            return []

        try:
            self._booster.update(fobj=derivatives)
        except lightgbm.basic.LightGBMError as error:  # each feature has too few distinct values to split
            raise InvalidInput.at("/dataset_id", TOO_FEW_PAIRS) from error
        self._booster.eval_valid(record_scores)
        return log_odds[0]
