"""Permutation importance, when the values of a feature are shuffled, and split importance by gains."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from core.data import RankingDataset
from core.data.features import copy_features
from core.evaluation import Summary, measure, summarise_all
from core.jit import exact
from core.losses.randomness import mix
from core.metrics import DEFAULT, Conventions, Metric, parse_metric
from core.scorers import Network, ScoringModel, TreeModel
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray, Int64Array, OnProgress


@exact
def shuffle(values: FloatArray | Int64Array, boundaries: Int64Array, seed: np.uint64, number: int) -> None:
    """Shuffle the values of each group in place (Fisher and Yates).

    Args:
        values: (n_values,).
        boundaries: (n_groups + 1,) offsets of the groups; values stay in their group.
        seed: The same seed and number give the same order.
    """
    key = mix(seed, number)
    half = np.uint64(32)
    for group in range(len(boundaries) - 1):
        start = boundaries[group]
        for index in range(boundaries[group + 1] - 1, start, -1):
            # The upper half of a random 64-bit word selects by multiplication; the bias is below n / 2^32.
            choices = np.uint64(index - start + 1)
            other = start + np.int64(((mix(key, index) >> half) * choices) >> half)
            values[index], values[other] = values[other], values[index]


@dataclass(frozen=True, eq=False)
class SplitImportance:
    """Split importance as in LightGBM's `feature_importance`, in the model's feature order.

    Attributes:
        gain: (n_features,) sums of the gains of the splits by each feature, in units of the training loss.
        split: (n_features,) number of splits by each feature.
    """

    gain: Float64Array
    split: Int64Array


def split_importance(text: ModelText) -> SplitImportance:
    """Sum the splits of all trees; splits without a gain are ignored, as in LightGBM."""
    features = np.concatenate([np.empty(0, np.int64), *(tree.features for tree in text.trees)])
    gains = np.concatenate([np.empty(0), *(tree.gains for tree in text.trees)])
    counted = gains > 0.0
    n_features = len(text.feature_names)
    # LightGBM reads its gains as float32 and sums them in float64, tree by tree.
    weights = np.minimum(gains[counted], np.finfo(np.float32).max).astype(np.float32)
    return SplitImportance(
        gain=np.bincount(features[counted], weights, minlength=n_features).astype(np.float64),
        split=np.bincount(features[counted], minlength=n_features).astype(np.int64),
    )


Within = Literal["query", "dataset"]
RESAMPLES = 1_000  # bootstrap resamples for each interval


@dataclass(frozen=True)
class PermutationImportance:
    """The importance of one feature.

    Attributes:
        feature: Index of the feature in the model's order.
        mean: Mean deterioration of the metric over queries and repeats; negative if the metric improved, None
            if it is undefined for all queries.
        standard_error: Standard error of the mean over repeats; None for a single repeat.
        lower: Lower end of the 95% interval over queries, with values averaged over repeats.
        upper: Upper end of the 95% interval.
    """

    feature: int
    mean: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Permutations:
    """Options of the permutations.

    Attributes:
        within: `dataset` permutes over all documents, which also measures query features; `query` permutes
            within each query, so that query features have the importance 0.
        seed: Seed of the permutations, independent of the number of threads.
    """

    repeats: int = 5
    within: Within = "dataset"
    seed: int = 0


def permutation_importance(
    model: ScoringModel,
    dataset: RankingDataset,
    metric: str,
    conventions: Conventions = DEFAULT,
    permutations: Permutations = Permutations(),
    *,
    threads: int = 1,
    on_step: OnProgress | None = None,
) -> tuple[Summary, list[PermutationImportance]]:
    """Compute the permutation importance of each feature.

    After Breiman, "Random Forests", 2001, section 10, with any ranking metric and several repeats. Redundant
    features both appear unimportant.

    Args:
        model: The model. Features that it does not use have an importance of exactly 0 and are not scored.
        dataset: The judged documents, with the model's features.
        metric: Spelling of the metric, `ndcg@10`.
        threads: Threads to use; the result does not depend on them.
        on_step: Called with the finished and the total number of scorings; may raise to stop.

    Returns:
        The metric without permutation, and every feature's importance, the most important first.
    """
    permuted = _PermutedFeatures(model, dataset, metric, conventions, permutations, threads)
    features = model.used_features
    importance_by_feature = {}
    for index, feature in enumerate(features):
        deteriorations = []
        for repeat, deterioration in enumerate(permuted.deteriorations(feature), start=1):
            deteriorations.append(deterioration)
            if on_step:
                on_step(index * permutations.repeats + repeat, len(features) * permutations.repeats)
        importance_by_feature[feature] = permuted.summarised(feature, np.array(deteriorations))
    importances = [
        importance_by_feature.get(feature, PermutationImportance(feature, 0.0, 0.0, 0.0, 0.0))
        for feature in range(len(model.feature_names))
    ]
    return permuted.summary, sorted(importances, key=lambda each: np.inf if each.mean is None else -each.mean)


class _PermutedFeatures:
    """A model and a buffer of features, of which one column at a time is shuffled."""

    def __init__(
        self,
        model: ScoringModel,
        dataset: RankingDataset,
        metric: str,
        conventions: Conventions,
        permutations: Permutations,
        threads: int,
    ) -> None:
        self._model, self._dataset, self._threads = model, dataset, threads
        self._features_of_trees: list[frozenset[int]] = []
        if isinstance(model, TreeModel):
            self._features_of_trees = [tree.used_features for tree in model.text.trees]
        self._spelling, self._conventions = metric, conventions
        self._permutations = permutations
        groups = dataset.query_boundaries if permutations.within == "query" else [0, dataset.n_documents]
        self._groups: Int64Array = np.array(groups)
        self._buffer = copy_features(dataset.features)
        self._parsed_metric = parse_metric(metric, conventions)
        self._scores = self._scores_of(model)
        values = self._metric_values(self._scores)
        self.summary = self._summary(values, {metric: self._parsed_metric})

    def deteriorations(self, feature: int) -> Iterator[Float64Array]:
        """Shuffle a feature repeatedly; yield the (n_queries,) deterioration of the metric for each repeat.

        Only the part of the model that reads the feature is scored again.
        """
        affected, unaffected = self._parts(feature)
        # Summed in the same order as the later scores, so that rounding breaks ties in the same way.
        unpermuted = self._metric_values(unaffected + affected())
        column = self._buffer[:, feature].copy()
        sign = 1.0 if self._parsed_metric.higher_is_better else -1.0
        seed = np.uint64(self._permutations.seed)
        for repeat in range(self._permutations.repeats):
            shuffled = column.copy()
            shuffle(shuffled, self._groups, seed, repeat * len(self._model.feature_names) + feature)
            self._buffer[:, feature] = shuffled
            yield sign * (unpermuted - self._metric_values(unaffected + affected()))
        self._buffer[:, feature] = column

    def summarised(self, feature: int, deteriorations: Float64Array) -> PermutationImportance:
        """Summarise the (n_repeats, n_queries) deterioration of the metric."""
        summary = self._summary(deteriorations.mean(axis=0))
        if summary.mean is None:
            return PermutationImportance(feature, None, None, None, None)
        error = None
        if len(deteriorations) > 1:
            error = float(np.nanmean(deteriorations, axis=1).std(ddof=1) / np.sqrt(len(deteriorations)))
        return PermutationImportance(feature, summary.mean, error, summary.lower, summary.upper)

    def _parts(self, feature: int) -> tuple[Callable[[], Float64Array], Float64Array]:
        """Return a function that scores the part of the model that reads a feature, and the other scores."""
        model = self._model
        if isinstance(model, TreeModel):
            using, others = (self._trees(model.text, feature, using=using) for using in (True, False))
            return partial(self._scores_of, using), self._scores_of(others)
        if isinstance(model, Network) and model.kind == "linear":
            term = model.term(feature)

            def scores_of_term() -> Float64Array:
                return term.score(self._buffer[:, feature : feature + 1], self._threads)

            return scores_of_term, self._scores - scores_of_term()
        return partial(self._scores_of, model), np.zeros(len(self._buffer))

    def _trees(self, text: ModelText, feature: int, *, using: bool) -> TreeModel:
        """Return the model of the trees that use a feature, or of the other trees."""
        trees = zip(text.trees, self._features_of_trees, strict=True)
        chosen = tuple(tree for tree, features in trees if (feature in features) == using)
        return TreeModel(replace(text, trees=chosen))

    def _scores_of(self, model: ScoringModel) -> Float64Array:
        return model.score(self._buffer, self._threads)

    def _metric_values(self, scores: Float64Array) -> Float64Array:
        return measure(scores, self._dataset, [self._spelling], self._conventions)[self._spelling]

    def _summary(self, values: Float64Array, metrics: Mapping[str, Metric] | None = None) -> Summary:
        """Summarise values or differences of the metric; `metrics` limits intervals to its bounds."""
        seed, threads, name = self._permutations.seed, self._threads, self._spelling
        return summarise_all(
            {name: values}, resamples=RESAMPLES, seed=seed, threads=threads, metrics=metrics
        )[name]
