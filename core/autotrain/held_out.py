"""Held-out queries: repeated folds, and the quality of out-of-fold scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.data import RankingDataset
from core.data.splits import fold_numbers
from core.errors import InvalidInput
from core.evaluation.summary import summarise_all
from core.metrics import Conventions, Ideal, ideal_labels, measure_all, parse_metric
from core.types import Float64Array, Int64Array

FOLDS = 5
_FEW_QUERIES, _SOME_QUERIES = 100, 300


@dataclass(frozen=True)
class Fold:
    """One fold of one repetition.

    Attributes:
        number: Position among all folds of all repetitions, from 0.
        training: int64 (n,) ascending queries to train on.
        held_out: int64 (m,) ascending queries to measure on.
    """

    number: int
    training: Int64Array
    held_out: Int64Array


class QueryQuality:
    """Values of a metric for the queries of a dataset, with the sign such that larger is better."""

    def __init__(self, dataset: RankingDataset, metric: str, conventions: Conventions, seed: int) -> None:
        self.dataset = dataset
        self._metric = parse_metric(metric, conventions)
        self._spelling, self._conventions = metric, conventions
        self._seed = seed
        self._sign = 1.0 if self._metric.higher_is_better else -1.0

    def rows(self, queries: Int64Array) -> Int64Array:
        """Return the ascending rows of the documents of some queries."""
        chosen = np.zeros(self.dataset.n_queries, np.bool_)
        chosen[queries] = True
        return np.flatnonzero(np.repeat(chosen, np.diff(self.dataset.query_boundaries)))

    def of_queries(self, queries: Int64Array) -> "QueryQuality":
        """Return the quality restricted to some queries, int64 ascending."""
        return QueryQuality(
            self.dataset.select_queries(queries), self._spelling, self._conventions, self._seed
        )

    def values(self, scores: Float64Array) -> Float64Array:
        """Return the value of each query, averaged over the repetitions; larger is better.

        Args:
            scores: (repetitions, n_documents), NaN where a query was not held out yet.

        Returns:
            (n_queries,), NaN where the metric is undefined or no repetition held the query out.
        """
        by_repetition = np.stack([self._values_of(row) for row in scores])
        counts = (~np.isnan(by_repetition)).sum(axis=0)
        total = np.nansum(by_repetition, axis=0)
        with np.errstate(invalid="ignore"):
            return np.where(counts > 0, total / counts, np.nan)

    def in_metric_units(self, mean: float) -> float:
        """Return a mean of `values` in the units of the metric."""
        mean = self._sign * mean
        return float(np.exp(mean)) if self._metric.geometric_mean else mean

    def interval(self, values: Float64Array) -> tuple[float, float] | None:
        """Return the 95% interval of the mean of `values` in the units of the metric; None if all are NaN."""
        signed = self._sign * values
        plain = np.exp(signed) if self._metric.geometric_mean else signed
        metrics = {self._spelling: self._metric}
        summary = summarise_all({self._spelling: plain}, seed=self._seed, metrics=metrics)[self._spelling]
        if summary.lower is None or summary.upper is None:
            return None
        return summary.lower, summary.upper

    def _values_of(self, scores: Float64Array) -> Float64Array:
        is_scored = ~np.isnan(scores)
        metrics, document_ids = {self._spelling: self._metric}, self.dataset.document_ids
        filled = np.where(is_scored, scores, 0.0)
        values = measure_all(metrics, filled, self._ideal, document_ids)[self._spelling]
        is_held_out: npt.NDArray[np.bool_] = is_scored[self.dataset.query_boundaries[:-1]]
        values = np.where(is_held_out, values, np.nan)
        return self._sign * (np.log(values) if self._metric.geometric_mean else values)

    @cached_property
    def _ideal(self) -> Ideal:
        return ideal_labels(self.dataset.labels, self.dataset.query_boundaries)


class HeldOut(QueryQuality):
    """Repeated folds of a dataset, and the quality of held-out scores.

    On few queries, results depend on the random assignment to folds. Folds are therefore drawn three times
    for fewer than 100 queries, twice for fewer than 300.

    Args:
        dataset: Training data, at least 2 queries.

    Raises:
        InvalidInput: There are fewer than 2 queries, the metric is undefined on every query, or no query has
            documents with different labels.
    """

    def __init__(self, dataset: RankingDataset, metric: str, conventions: Conventions, seed: int) -> None:
        super().__init__(dataset, metric, conventions, seed)
        n_queries = dataset.n_queries
        if n_queries < 2:
            raise InvalidInput.at("/dataset_id", "has one query; at least 2 are needed to hold out queries")
        self.n_folds = min(FOLDS, n_queries)
        self.repetitions = 3 if n_queries < _FEW_QUERIES else 2 if n_queries < _SOME_QUERIES else 1
        self._fold_of = [
            fold_numbers(dataset, self.n_folds, seed + repetition) - 1
            for repetition in range(self.repetitions)
        ]
        if np.isnan(self.values(np.zeros((1, dataset.n_documents)))).all():
            reason = "" if (dataset.labels > 0).any() else ": none has a relevant document"
            raise InvalidInput.at("/metric", f"{metric} is undefined on every query{reason}")
        starts, labels = dataset.query_boundaries[:-1], dataset.labels
        if (np.maximum.reduceat(labels, starts) == np.minimum.reduceat(labels, starts)).all():
            raise InvalidInput.at(
                "/dataset_id", "has no query with different labels, so that all rankings are equally good"
            )

    def folds(self) -> Iterator[Fold]:
        """Yield the folds of all repetitions, in order."""
        for repetition, fold_of in enumerate(self._fold_of):
            for fold in range(self.n_folds):
                number = repetition * self.n_folds + fold
                yield Fold(number, np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))

    @property
    def total_folds(self) -> int:
        """Return the number of folds of all repetitions."""
        return self.repetitions * self.n_folds

    def variance_factor(self, folds: int) -> float:
        """Return the variance of a mean over queries of several folds, over that of independent queries.

        The models of the folds share training queries (Nadeau and Bengio 2003, corrected resampled t-test):
        1 + J / (K - 1) for J of K folds, 1 for a single model.
        """
        return 1.0 if folds == 1 else 1.0 + min(folds, self.n_folds) / (self.n_folds - 1)

    def empty_scores(self) -> Float64Array:
        """Return an array of scores to fill, (repetitions, n_documents), all NaN."""
        return np.full((self.repetitions, self.dataset.n_documents), np.nan)


def mean_of(values: Float64Array) -> float:
    """Return the mean of the values that are not NaN, -inf without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else -np.inf
