"""Rankings that anyone has without training, so that a number is never alone."""

from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.doctor.single_feature import rank_by_single_features
from core.types import Float64Array


@dataclass(frozen=True, eq=False)
class Baseline:
    """Scores to compare with.

    Attributes:
        name: What ranks.
        detail: How, in a few words.
        scores: (n_documents,) scores.
    """

    name: str
    detail: str
    scores: Float64Array


def baselines(dataset: RankingDataset, seed: int) -> list[Baseline]:
    """Return the orders that need no model.

    Args:
        dataset: What is measured.
        seed: Of the random order, and of the sample on which features are tried.

    Returns:
        The documents as they came, a random order, and the feature that ranks best by itself: the highest
        NDCG@10 on a sample of these queries, missing values last. The last is left out where the dataset has
        no features, or no query that could tell.
    """
    found = [
        Baseline("input order", "the documents as they came", -np.arange(dataset.n_documents, dtype=float)),
        random_order(np.zeros(dataset.n_documents), seed),
    ]
    return [*found, *_best_single_feature(dataset, seed)]


def random_order(scores: Float64Array, seed: int) -> Baseline:
    """Return the documents that have a score, (n_documents,) NaN otherwise, in random order."""
    shuffled = np.where(np.isnan(scores), np.nan, np.random.default_rng(seed).random(len(scores)))
    return Baseline("random", f"seed {seed}", shuffled)


def _best_single_feature(dataset: RankingDataset, seed: int) -> list[Baseline]:
    if not dataset.n_features:
        return []
    single = rank_by_single_features(dataset, seed)
    if not single.queries:
        return []
    best = int(np.nanargmax(single.better))
    ascending = bool(single.ascending[best] > single.descending[best])
    values = np.asarray(dataset.features[:, best], np.float64)
    scores = np.where(np.isnan(values), -np.inf, -values if ascending else values)
    order = "lowest first" if ascending else "highest first"
    return [Baseline("best single feature", f"{dataset.feature_names[best]}, {order}", scores)]
