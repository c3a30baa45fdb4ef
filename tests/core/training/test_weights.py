"""Weights of sums, fitted to a metric."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.evaluation import measure
from core.metrics import DEFAULT
from core.training.weights import FittedWeights, best_weights, fit_weights, mean_deviation
from core.types import Float64Array

METRIC = "ndcg@5"
DOCUMENTS = 15
TEST_QUERIES = 600
# The factor of the label in the scores of each member; the noise of all members has deviation 1.
ALIKE = (0.7,) * 6
SPREAD = (0.3, 0.4, 0.5, 0.7, 0.9, 1.1)
HALF_NOISE = (0.0, 0.0, 0.0, 0.7, 0.7, 0.7)


@pytest.fixture
def dataset() -> RankingDataset:
    """Judged queries."""
    return synthetic_dataset(80, seed=3, documents_per_query=12, n_features=3)


def _value(scores: Float64Array, dataset: RankingDataset, metric: str = METRIC) -> float:
    return float(np.nanmean(measure(scores, dataset, [metric], DEFAULT)[metric]))


class Gain(NamedTuple):
    """The test metric of a sum less that of equal weights of scaled scores."""

    of_fitted: float
    of_best: float


def _gain(shares: Sequence[float], n_queries: int, seed: int) -> Gain:
    """Return the gain for drawn members, which have separate and common noise, each on its own scale."""
    random = np.random.default_rng(seed)
    n = (n_queries + TEST_QUERIES) * DOCUMENTS
    labels = random.choice(5, n, p=[0.55, 0.2, 0.13, 0.08, 0.04])
    common = random.normal(size=n)
    scores = np.column_stack(
        [share * labels + 0.6 * common + 0.8 * random.normal(size=n) for share in shares]
    ) * 10.0 ** random.uniform(-2, 2, len(shares))
    judged = RankingDataset.from_arrays(
        np.zeros((n, 1), np.float32), labels.astype(np.float32), np.arange(0, n + 1, DOCUMENTS)
    )
    validation = judged.select_queries(np.arange(n_queries))
    test = judged.select_queries(np.arange(n_queries, n_queries + TEST_QUERIES))
    known, unknown = np.split(scores, [validation.n_documents])
    columns = [np.ascontiguousarray(column) for column in known.T]
    deviations = known.reshape(n_queries, DOCUMENTS, -1).std(axis=1).mean(axis=0)
    equal = _value(unknown @ (1.0 / deviations), test)
    fitted = fit_weights(columns, validation, METRIC, DEFAULT).weights
    best = best_weights(columns, validation, METRIC, DEFAULT)
    return Gain(*(_value(unknown @ np.array(weights), test) - equal for weights in (fitted, best)))


@pytest.mark.long
def test_members_that_are_alike_get_equal_weights() -> None:
    """With six members and 30 queries, the best weights fit noise, and lose on test queries."""
    gains = np.array([_gain(ALIKE, 30, seed) for seed in range(6, 12)])
    mean = Gain(*gains.mean(axis=0))
    assert mean.of_best < -0.005
    assert mean.of_fitted > -0.001
    assert (abs(gains[:, 0]) > 1e-9).sum() <= 1  # p < 0.05 by chance


@pytest.mark.long
def test_fitted_weights_beat_equal_ones_where_half_of_the_members_are_noise() -> None:
    """The gain on test queries is above 0.03."""
    gains = [_gain(HALF_NOISE, 30, seed) for seed in range(2)]
    assert min(gain.of_fitted for gain in gains) > 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("n_queries", "draws"), [(10, 100), (30, 100), (100, 40), (300, 16), (1_000, 6)])
def test_fitted_weights_gain_for_different_members(n_queries: int, draws: int) -> None:
    """On average over draws, fitted weights lose nothing for similar members, and gain for different ones."""
    for shares in (ALIKE, SPREAD, HALF_NOISE):
        gains = np.array([_gain(shares, n_queries, seed) for seed in range(draws)])
        mean = Gain(*gains.mean(axis=0))
        if shares == ALIKE:
            assert mean.of_fitted > -0.0005
        else:
            assert mean.of_fitted > (0.3 if n_queries < 30 else 0.9) * mean.of_best


def test_a_sum_of_two_noisy_scores_is_better_than_each(dataset: RankingDataset) -> None:
    """The scores have separate errors and different scales."""
    random = np.random.default_rng(4)
    labels = dataset.labels.astype(np.float64)
    scores = [labels + random.normal(size=len(labels)), 1e3 * (labels + random.normal(size=len(labels)))]
    for fit in (lambda *given: fit_weights(*given).weights, best_weights):
        weights = fit(scores, dataset, METRIC, DEFAULT)
        added = sum(weight * each for weight, each in zip(weights, scores, strict=True))
        assert _value(np.asarray(added), dataset) > max(_value(each, dataset) for each in scores) + 0.01
        assert sum(weights) == pytest.approx(1.0)
        assert weights == fit(scores, dataset, METRIC, DEFAULT)


@pytest.mark.parametrize("metric", [METRIC, "arp"])
def test_the_best_weights_are_no_worse_than_the_best_model(dataset: RankingDataset, metric: str) -> None:
    """On this data, the best weights are no worse in either direction of the metric."""
    random = np.random.default_rng(5)
    labels = dataset.labels.astype(np.float64)
    scores = [random.normal(size=len(labels)), labels + 0.1 * random.normal(size=len(labels)), -labels]
    sign = -1.0 if metric == "arp" else 1.0
    alone = sign * _value(scores[1], dataset, metric)
    best = np.column_stack(scores) @ np.array(best_weights(scores, dataset, metric, DEFAULT))
    assert sign * _value(best, dataset, metric) >= alone
    fitted = np.array(fit_weights(scores, dataset, metric, DEFAULT).weights)
    assert sign * _value(np.column_stack(scores) @ fitted, dataset, metric) >= alone - 0.02 * abs(alone)
    assert fitted.min() >= 0.0


def test_weights_maximise_a_metric_with_a_geometric_mean(dataset: RankingDataset) -> None:
    """The better member by the metric gets most of the weight."""
    labels = dataset.labels.astype(np.float64)
    noise = np.random.default_rng(6).normal(size=len(labels))
    assert fit_weights([noise, labels], dataset, "gm-map", DEFAULT).weights[1] > 0.8


def test_a_model_of_one_score_is_left_out(dataset: RankingDataset) -> None:
    """Equal scores have no deviation to scale by, and change no ranking."""
    labels = dataset.labels.astype(np.float64)
    scores = [labels, np.zeros(len(labels))]
    assert best_weights(scores, dataset, METRIC, DEFAULT) == (1.0, 0.0)
    assert fit_weights(scores, dataset, METRIC, DEFAULT).weights == (1.0, 0.0)


@pytest.mark.parametrize("n_queries", [1, 2])
def test_too_few_queries_to_hold_some_out_give_equal_weights(dataset: RankingDataset, n_queries: int) -> None:
    """No held-out query can show a gain, so scaled weights are equal."""
    few = dataset.select_queries(np.arange(n_queries))
    labels = few.labels.astype(np.float64)
    assert fit_weights([labels, 2.0 * labels], few, METRIC, DEFAULT) == FittedWeights(
        (2 / 3, 1 / 3), 1.0, n_queries
    )


@pytest.mark.parametrize("factor", [2.0**665, 2.0**-600])
def test_scores_of_any_size_have_the_same_weights(dataset: RankingDataset, factor: float) -> None:
    """The squares of such scores are beyond float64; the weights differ by the factor alone."""
    random = np.random.default_rng(0)
    scores = [dataset.labels + random.normal(size=dataset.n_documents) for _ in range(2)]
    for fit in (lambda *given: fit_weights(*given).weights, best_weights):
        plain = fit(scores, dataset, METRIC, DEFAULT)
        assert fit([each * factor for each in scores], dataset, METRIC, DEFAULT) == plain
        mixed = fit([scores[0], scores[1] * factor], dataset, METRIC, DEFAULT)
        assert mixed[1] * factor / mixed[0] == pytest.approx(plain[1] / plain[0])


def test_the_mean_deviation_does_not_overflow(dataset: RankingDataset) -> None:
    """Neither squares of the largest scores overflow, nor the sum over the queries."""
    scores = np.random.default_rng(0).uniform(size=dataset.n_documents)
    plain = mean_deviation(scores, dataset.query_boundaries)
    assert mean_deviation(scores * 2.0**1023, dataset.query_boundaries) == plain * 2.0**1023
