"""Weights of a sum of models, fitted to a metric on validation data."""

from collections.abc import Callable, Sequence

import numpy as np

from core.data import RankingDataset
from core.evaluation import measure
from core.metrics import Conventions, parse_metric
from core.types import Float64Array

# Factors that are tried on a weight, and shares of the largest one where it is 0.
_FACTORS = tuple(2.0**power for power in (-3, -2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2, 3))
_SHARES = (0.03, 0.1, 0.3, 1.0)
_MOST_ROUNDS = 20


def fit_weights(
    scores: Sequence[Float64Array], dataset: RankingDataset, metric: str, conventions: Conventions
) -> tuple[float, ...]:
    """Return weights, none negative, whose sum of scores has the best mean metric that a search finds.

    Scores are brought to one scale first: each model's are divided by the mean deviation within a query.
    Coordinate ascent then changes one weight at a time by a factor, or to 0, as long as the metric gets
    better. It begins at each model alone and at equal weights, so that the result is at least as good on
    this data as the best of the models. The result is the same for the same arguments.

    Args:
        scores: (n_documents,) of each model.
        dataset: Judged documents that no model has learnt from.
        metric: Spelling of the metric.
        conventions: Its contract.

    Returns:
        A weight for each model, for scores as they are; they add up to 1.
    """
    scales = np.array([_scale(each, dataset) for each in scores])
    scaled = np.column_stack([each / scale for each, scale in zip(scores, scales, strict=True)])
    parsed = parse_metric(metric, conventions)
    sign = 1.0 if parsed.higher_is_better else -1.0

    def value(weights: Float64Array) -> float:
        values = measure(scaled @ weights, dataset, [metric], conventions)[metric]
        mean = parsed.mean(values)
        return -np.inf if mean is None else sign * mean

    count = len(scores)
    starts = [*np.eye(count), np.full(count, 1.0 / count)]
    # Alone comes first: what only ties with a model does not replace it.
    best = max((_climbed(start, value) for start in starts), key=value)
    weights = best / scales
    return tuple((weights / weights.sum()).tolist())


def _climbed(weights: Float64Array, value: Callable[[Float64Array], float]) -> Float64Array:
    reached = value(weights)
    for _ in range(_MOST_ROUNDS):
        before = reached
        for place in range(len(weights)):
            for tried in _candidates(weights, place):
                changed = weights.copy()
                changed[place] = tried
                if changed.any() and (found := value(changed)) > reached:
                    weights, reached = changed, found
        if reached == before:
            break
    return weights


def _candidates(weights: Float64Array, place: int) -> list[float]:
    weight = float(weights[place])
    if weight == 0.0:
        return [share * float(weights.max()) for share in _SHARES]
    return [0.0, *(factor * weight for factor in _FACTORS)]


def _scale(scores: Float64Array, dataset: RankingDataset) -> float:
    """Return the mean over queries of the standard deviation of the scores, 1 where it is 0."""
    starts, lengths = dataset.query_boundaries[:-1], np.diff(dataset.query_boundaries)
    means = np.add.reduceat(scores, starts) / lengths
    squares = np.add.reduceat((scores - np.repeat(means, lengths)) ** 2, starts) / lengths
    return float(np.sqrt(squares).mean()) or 1.0
