"""Weights of a sum of models, fitted to a metric on validation data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from core.data import RankingDataset
from core.data.splits import fold_numbers
from core.evaluation import measure
from core.evaluation.paired import SIGNIFICANCE, p_of_differences
from core.metrics import Conventions, parse_metric
from core.types import Float64Array, Int64Array

# Factors to try on a weight, and shares of the largest weight to try for a weight of 0.
_FACTORS = tuple(2.0**power for power in (-3, -2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2, 3))
_SHARES = (0.03, 0.1, 0.3, 1.0)
_MAX_ROUNDS = 20
_MAX_FOLDS = 5
_EQUAL_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True)
class FittedWeights:
    """Weights of a sum.

    Attributes:
        weights: One per model, for unscaled scores; their sum is 1.
        equal_share: Share of equal weights (of scaled scores) in the mixture with fitted weights.
        queries: Validation queries on which the metric is defined.
    """

    weights: tuple[float, ...]
    equal_share: float
    queries: int


def fit_weights(
    scores: Sequence[Float64Array], dataset: RankingDataset, metric: str, conventions: Conventions
) -> FittedWeights:
    """Fit non-negative weights and shrink them towards equal weights by cross-validation.

    Each model's scores are first divided by their mean standard deviation within a query. On few queries, a
    search for the best weights fits noise, and equal weights of scaled scores are hard to beat (Dawes 1979).
    Weights are therefore fitted by coordinate ascent from equal weights, once without each of up to
    five folds of the queries. The mean of these fits is mixed with equal weights. The share of equal weights
    is the best one on the held-out folds; it is 1 unless a paired t-test over all queries shows that the
    mixture is better. The result is deterministic.

    Args:
        scores: (n_documents,) of each model.
        dataset: Judged documents that no model was trained on.
    """
    search = _Search(scores, dataset, metric, conventions)
    n_queries, equal = dataset.n_queries, search.equal
    if n_queries == 1:
        return FittedWeights(search.unscaled(equal), 1.0, int((~np.isnan(search.per_query(equal))).sum()))
    folds = min(_MAX_FOLDS, n_queries)
    fold_of = fold_numbers(dataset, folds, seed=0)
    fits = []
    held_out = np.empty((len(_EQUAL_SHARES), n_queries))
    for fold in range(1, folds + 1):
        is_held_out = fold_of == fold
        fitted = _coordinate_ascent(equal, partial(search.value, queries=~is_held_out))
        fits.append(fitted / fitted.sum())
        for row, share in enumerate(_EQUAL_SHARES):
            held_out[row, is_held_out] = search.per_query(_mixed(fits[-1], equal, share))[is_held_out]
    defined = held_out[:, ~np.isnan(held_out).any(axis=0)]
    share = _best_equal_share(defined)
    return FittedWeights(
        search.unscaled(_mixed(np.mean(fits, axis=0), equal, share)), share, defined.shape[1]
    )


def best_weights(
    scores: Sequence[Float64Array], dataset: RankingDataset, metric: str, conventions: Conventions
) -> tuple[float, ...]:
    """Return the best non-negative weights by coordinate ascent, the method of earlier releases.

    The search starts from each model alone and from equal weights. On this data the result is thus at least
    as good as the best model. See `fit_weights` for the arguments.
    """
    search = _Search(scores, dataset, metric, conventions)
    count = len(scores)
    starts = [*np.eye(count), np.full(count, 1.0 / count)]
    # Single models are first, so that a sum must be better to replace them.
    return search.unscaled(
        max((_coordinate_ascent(start, search.value) for start in starts), key=search.value)
    )


class _Search:
    """A search for weights of scaled scores, with the metric that evaluates them."""

    def __init__(
        self, scores: Sequence[Float64Array], dataset: RankingDataset, metric: str, conventions: Conventions
    ) -> None:
        self._deviations = np.array([mean_deviation(each, dataset.query_boundaries) for each in scores])
        self._scales = np.where(self._deviations == 0.0, 1.0, self._deviations)
        self._scaled = np.column_stack(
            [each / scale for each, scale in zip(scores, self._scales, strict=True)]
        )
        self._dataset = dataset
        self._metric = metric
        self._conventions = conventions
        self._parsed_metric = parse_metric(metric, conventions)
        self._sign = 1.0 if self._parsed_metric.higher_is_better else -1.0

    @cached_property
    def equal(self) -> Float64Array:
        """Equal weights of the models whose scores vary; of all models if no scores vary."""
        varies = self._deviations > 0.0
        counted = varies if varies.any() else ~varies
        weights: Float64Array = counted / counted.sum()
        return weights

    def per_query(self, weights: Float64Array) -> Float64Array:
        """Return a value for each query whose mean is to be maximised; NaN where the metric is undefined."""
        values = self._metric_values(weights)
        return self._sign * (np.log(values) if self._parsed_metric.geometric_mean else values)

    def value(self, weights: Float64Array, queries: npt.NDArray[np.bool_] | None = None) -> float:
        """Return the mean over some queries, to be maximised; minus infinity if no query has a value."""
        values = self._metric_values(weights)
        mean = self._parsed_metric.mean(values if queries is None else values[queries])
        return -np.inf if mean is None else self._sign * mean

    def unscaled(self, weights: Float64Array) -> tuple[float, ...]:
        """Return the weights for unscaled scores; their sum is 1."""
        unscaled = weights / self._scales
        return tuple((unscaled / unscaled.sum()).tolist())

    def _metric_values(self, weights: Float64Array) -> Float64Array:
        scores = self._scaled @ weights
        return measure(scores, self._dataset, [self._metric], self._conventions)[self._metric]


def _mixed(fitted: Float64Array, equal: Float64Array, share: float) -> Float64Array:
    return (1.0 - share) * fitted + share * equal


def _best_equal_share(values: Float64Array) -> float:
    """Return the best share of equal weights, or 1 unless a t-test shows that the best share is better.

    Args:
        values: (n_shares, n_queries) values of each of `_EQUAL_SHARES`, all weights equal first.
    """
    best = int(values.mean(axis=1).argmax())  # on a tie, the largest share of equal weights
    gains = values[best] - values[0]
    is_significant = p_of_differences(gains) < SIGNIFICANCE and gains.mean() > 0.0
    return _EQUAL_SHARES[best] if is_significant else 1.0


def _coordinate_ascent(weights: Float64Array, value: Callable[[Float64Array], float]) -> Float64Array:
    """Improve one weight at a time until no candidate improves any, or for `_MAX_ROUNDS` rounds."""
    best = value(weights)
    for _ in range(_MAX_ROUNDS):
        best_before = best
        for model in range(len(weights)):
            for candidate in _candidates(weights, model):
                changed = weights.copy()
                changed[model] = candidate
                if changed.any() and (changed_value := value(changed)) > best:
                    weights, best = changed, changed_value
        if best == best_before:
            break
    return weights


def _candidates(weights: Float64Array, model: int) -> list[float]:
    """Return the values to try for the weight of a model."""
    weight = float(weights[model])
    if weight == 0.0:
        return [share * float(weights.max()) for share in _SHARES]
    return [0.0, *(factor * weight for factor in _FACTORS)]


def deviations_within_queries(scores: Float64Array, query_boundaries: Int64Array) -> Float64Array:
    """Return the standard deviation of the scores of each query, (…, n_queries); NaN without scores.

    Args:
        scores: (…, n_documents) below 10^154, NaN where a query has no scores.
        query_boundaries: (n_queries + 1,) offsets.
    """
    starts, lengths = query_boundaries[:-1], np.diff(query_boundaries)
    means = np.add.reduceat(scores, starts, axis=-1) / lengths
    squares = (scores - np.repeat(means, lengths, axis=-1)) ** 2
    deviations: Float64Array = np.sqrt(np.add.reduceat(squares, starts, axis=-1) / lengths)
    return deviations


def mean_deviation(scores: Float64Array, query_boundaries: Int64Array) -> float:
    """Return the mean of `deviations_within_queries`, for scores of any size; 0 where no query has scores."""
    # Scaling by a power of two changes no digit, and squares do not overflow.
    _, exponent = np.frexp(np.fmax.reduce(np.abs(scores), axis=None, initial=0.0))
    deviations = deviations_within_queries(np.ldexp(scores, -exponent), query_boundaries)
    return 0.0 if np.isnan(deviations).all() else float(np.ldexp(np.nanmean(deviations), exponent))
