"""Metrics of a booster's current scores."""

import lightgbm
import numpy as np

from core.data import RankingDataset
from core.errors import InvalidInput
from core.metrics import ideal_labels, measure_all, parse_metric
from core.training.spec import TrainingSpec
from core.types import Float64Array


def current_scores(booster: lightgbm.Booster, name: str) -> Float64Array:
    """Return a booster's current scores of the training ("train") or validation ("validation") data.

    LightGBM reuses the array for the next call. Its evaluation hook is the only public access to the scores.
    A `dart` booster drops trees when it evaluates its training data. The training data is therefore also one
    of its validation sets.
    """
    recorded: list[Float64Array] = []

    def record_scores(scores: Float64Array, _: lightgbm.Dataset) -> list[tuple[str, float, bool]]:
        recorded.append(scores)
        return []

    if name in booster.name_valid_sets:
        booster.eval_valid(record_scores)
        return recorded[booster.name_valid_sets.index(name)]
    booster.eval_train(record_scores)
    return recorded[0]


class Measure:
    """Mean metrics of scores of one dataset.

    With the correction `ips`, lists of clicks count by the sum of the weights of their clicks. Otherwise,
    models that learn the position bias would have the highest means.
    """

    def __init__(self, spec: TrainingSpec, dataset: RankingDataset) -> None:
        self._metrics = {name: parse_metric(name, spec.conventions) for name in spec.all_metrics}
        self._document_ids = dataset.document_ids
        self._ideal = ideal_labels(dataset.labels, dataset.query_boundaries)
        self._weights = _list_weights(spec, dataset)

    def __call__(self, scores: Float64Array) -> dict[str, float | None]:
        """Return the mean of each metric by its spelling."""
        by_query = self.by_query(scores)
        return {
            spelling: self._metrics[spelling].mean(values, self._weights)
            for spelling, values in by_query.items()
        }

    def by_query(self, scores: Float64Array) -> dict[str, Float64Array]:
        """Return each metric of each query, (n_queries,), by its spelling."""
        return measure_all(self._metrics, scores, self._ideal, self._document_ids)


def _list_weights(spec: TrainingSpec, dataset: RankingDataset) -> Float64Array | None:
    """Return the sum of the weights of the clicks of each list, (n_queries,), None for equal weights."""
    clicks = spec.clicks
    if clicks is None or clicks.correction != "ips" or not spec.are_corrected_clicks(dataset):
        return None
    clicked = np.flatnonzero(dataset.labels > 0.0)
    lists = np.searchsorted(dataset.query_boundaries, clicked, side="right") - 1
    sums = np.bincount(lists, clicks.weights_of_clicks(dataset), dataset.n_queries)
    return np.asarray(sums, np.float64)


def check_fit(spec: TrainingSpec, training: RankingDataset, validation: RankingDataset | None) -> None:
    """Refuse early stopping without validation data, and validation data with other features.

    Raises:
        InvalidInput: At `/early_stopping` or `/validation`.
    """
    if validation is None:
        if spec.early_stopping is not None:
            raise InvalidInput.at("/early_stopping", "needs validation data")
    elif validation.n_features != training.n_features:
        raise InvalidInput.at(
            "/validation",
            f"has {validation.n_features} features, the training data {training.n_features}",
        )
    elif validation.categories != training.categories:
        raise InvalidInput.at(
            "/validation", "has other categories than the training data; use align_features"
        )


def check_early_stopping(spec: TrainingSpec, validation: RankingDataset | None) -> None:
    """Refuse early stopping by a metric that no validation query defines: no iteration would be the best.

    Raises:
        InvalidInput: The metric is undefined on the validation data.
    """
    if spec.early_stopping is None or validation is None:
        return
    name = spec.early_stopping.metric
    if Measure(spec, validation)(np.zeros(validation.n_documents))[name] is None:
        raise InvalidInput.at(
            "/early_stopping",
            f"{name} is undefined on the validation data, such as without relevant documents; validate on"
            " other queries, or leave out early stopping",
        )
