"""Permutation importance: how much worse a model ranks when the values of a feature are mixed up."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from core.data import RankingDataset
from core.data.features import copy_features
from core.evaluation import Summary, measure, summarise_all
from core.inspection.importance import features_of
from core.inspection.shuffling import shuffle
from core.metrics import DEFAULT, Conventions, parse_metric
from core.scorers import ScoringModel, TreeModel
from core.scoring.model_text import ModelText
from core.types import Float64Array, Int64Array

Within = Literal["query", "dataset"]
RESAMPLES = 1_000  # of each interval


@dataclass(frozen=True)
class PermutationImportance:
    """What a model loses when one feature is mixed up.

    Attributes:
        feature: Its number in the model's order.
        mean: Mean loss of the metric over queries and repeats; negative where the metric got better, None
            where no query defines it.
        standard_error: Of the mean, from one repeat to the next; None where there was one only.
        lower: Lower end of the 95% interval over queries, of whose losses the repeats are averaged.
        upper: Upper end.
    """

    feature: int
    mean: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None

    def to_json(self, feature_names: tuple[str, ...]) -> dict[str, Any]:
        """Return it with the feature's name."""
        return {**asdict(self), "feature": feature_names[self.feature]}


@dataclass(frozen=True)
class Permutations:
    """How features are mixed up.

    Attributes:
        repeats: How often each.
        within: Over the `dataset` a document gets the value of any other, so that features of the query are
            judged, too; within the `query` what does not tell its documents apart counts for nothing.
        seed: The same seed gives the same orders, on any number of threads.
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
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[Summary, list[PermutationImportance]]:
    """Mix up one feature after the other and measure how much worse the model ranks.

    After Breiman, "Random Forests", 2001, section 10, with any metric of a ranking and several repeats. Of
    features that tell the same, neither seems important.

    Args:
        model: The model. Features that it does not look at count exactly 0 and cost nothing.
        dataset: The judged documents, with the model's features.
        metric: Its spelling, `ndcg@10`.
        conventions: The contract of the metric.
        permutations: How they are mixed up.
        threads: Threads to use; the result does not depend on them.
        on_step: Told how many of how many scorings are done; whatever it raises ends the work.

    Returns:
        The metric of the model as it is, and every feature's importance, the most important first.
    """
    trial = _Trial(model, dataset, metric, conventions, permutations, threads)
    features = model.used_features
    tried = {}
    for place, feature in enumerate(features):
        losses = []
        for repeat, loss in enumerate(trial.losses(feature), start=1):
            losses.append(loss)
            if on_step:
                on_step(place * permutations.repeats + repeat, len(features) * permutations.repeats)
        tried[feature] = trial.summarised(feature, np.array(losses))
    found = [
        tried.get(feature, PermutationImportance(feature, 0.0, 0.0, 0.0, 0.0))
        for feature in range(len(model.feature_names))
    ]
    return trial.untouched, sorted(found, key=lambda each: np.inf if each.mean is None else -each.mean)


class _Trial:
    """A model and the one buffer whose columns are mixed up in turn."""

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
            self._features_of_trees = [frozenset(features_of(tree).tolist()) for tree in model.text.trees]
        self._spelling, self._conventions = metric, conventions
        self._permutations = permutations
        groups = dataset.query_boundaries if permutations.within == "query" else [0, dataset.n_documents]
        self._groups: Int64Array = np.array(groups)
        self._buffer = copy_features(dataset.features)
        self.untouched = self._summary(self._measured(self._scored(model)))

    def losses(self, feature: int) -> Iterator[Float64Array]:
        """Mix a feature up, again and again; gives each time the queries' losses, (n_queries,).

        Only the trees that look at it score anew each time; other models do so as a whole.
        """
        asked, unmoved = self._model, np.zeros(len(self._buffer))
        if isinstance(self._model, TreeModel):
            asked = self._trees(self._model.text, feature, looking=True)
            # Added up like the scores after it, so that rounding orders equal ones alike.
            unmoved = self._scored(self._trees(self._model.text, feature, looking=False))
        as_it_is = self._measured(unmoved + self._scored(asked))
        column = self._buffer[:, feature].copy()
        sign = 1.0 if parse_metric(self._spelling).higher_is_better else -1.0
        seed = np.uint64(self._permutations.seed)
        for repeat in range(self._permutations.repeats):
            mixed = column.copy()
            shuffle(mixed, self._groups, seed, repeat * len(asked.feature_names) + feature)
            self._buffer[:, feature] = mixed
            yield sign * (as_it_is - self._measured(unmoved + self._scored(asked)))
        self._buffer[:, feature] = column

    def summarised(self, feature: int, losses: Float64Array) -> PermutationImportance:
        """Sum up what was lost, (n_repeats, n_queries)."""
        summary = self._summary(losses.mean(axis=0))
        if summary.mean is None:
            return PermutationImportance(feature, None, None, None, None)
        error = None
        if len(losses) > 1:
            error = float(np.nanmean(losses, axis=1).std(ddof=1) / np.sqrt(len(losses)))
        return PermutationImportance(feature, summary.mean, error, summary.lower, summary.upper)

    def _trees(self, text: ModelText, feature: int, *, looking: bool) -> TreeModel:
        """Return the trees that look at a feature, or the others."""
        trees = zip(text.trees, self._features_of_trees, strict=True)
        chosen = tuple(tree for tree, features in trees if (feature in features) == looking)
        return TreeModel(replace(text, trees=chosen))

    def _scored(self, model: ScoringModel) -> Float64Array:
        return model.score(self._buffer, self._threads)

    def _measured(self, scores: Float64Array) -> Float64Array:
        return measure(scores, self._dataset, [self._spelling], self._conventions)[self._spelling]

    def _summary(self, values: Float64Array) -> Summary:
        seed, threads = self._permutations.seed, self._threads
        return summarise_all({"": values}, resamples=RESAMPLES, seed=seed, threads=threads)[""]
