"""Weights of sums, fitted to a metric."""

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.evaluation import measure
from core.metrics import DEFAULT
from core.training.weights import fit_weights
from core.types import Float64Array

METRIC = "ndcg@5"


@pytest.fixture
def dataset() -> RankingDataset:
    """Judged queries."""
    return synthetic_dataset(80, seed=3, documents_per_query=12, n_features=3)


def _value(scores: Float64Array, dataset: RankingDataset, metric: str = METRIC) -> float:
    return float(np.nanmean(measure(scores, dataset, [metric], DEFAULT)[metric]))


def test_two_half_truths_are_worth_more_together(dataset: RankingDataset) -> None:
    """Scores of different scales with errors of their own: the sum is better than each."""
    random = np.random.default_rng(4)
    labels = dataset.labels.astype(np.float64)
    scores = [labels + random.normal(size=len(labels)), 1e3 * (labels + random.normal(size=len(labels)))]
    weights = fit_weights(scores, dataset, METRIC, DEFAULT)
    added = sum(weight * each for weight, each in zip(weights, scores, strict=True))
    assert _value(np.asarray(added), dataset) > max(_value(each, dataset) for each in scores) + 0.01
    assert sum(weights) == pytest.approx(1.0)
    assert weights == fit_weights(scores, dataset, METRIC, DEFAULT)


@pytest.mark.parametrize("metric", [METRIC, "arp"])
def test_noise_is_no_better_than_the_best(dataset: RankingDataset, metric: str) -> None:
    """On this data the sum is never below the best model, whichever way the metric goes."""
    random = np.random.default_rng(5)
    labels = dataset.labels.astype(np.float64)
    scores = [random.normal(size=len(labels)), labels + 0.1 * random.normal(size=len(labels)), -labels]
    weights = fit_weights(scores, dataset, metric, DEFAULT)
    sign = -1.0 if metric == "arp" else 1.0
    added = np.column_stack(scores) @ np.array(weights)
    assert sign * _value(added, dataset, metric) >= sign * _value(scores[1], dataset, metric)
    assert min(weights) >= 0.0


def test_a_model_of_one_score_is_left_out(dataset: RankingDataset) -> None:
    """It has no deviation to scale by, and changes nothing."""
    labels = dataset.labels.astype(np.float64)
    assert fit_weights([labels, np.zeros(len(labels))], dataset, METRIC, DEFAULT) == (1.0, 0.0)
