"""Forests with obvious scores, and documents to score with them."""

import numpy as np

from core.data import RankingDataset
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree

NAN_GOES_LEFT = 2 | 2 << 2  # bits of LightGBM's decision_type
NAN_GOES_RIGHT = 2 << 2


def stump(feature: int, threshold: float, left: float, right: float, decision: int = NAN_GOES_RIGHT) -> Tree:
    """Make a tree of one split."""
    return Tree(
        features=np.array([feature]),
        thresholds=np.array([threshold]),
        decisions=np.array([decision]),
        left=np.array([-1]),
        right=np.array([-2]),
        leaf_values=np.array([left, right]),
        gains=np.array([1.5]),
        split_counts=np.array([7]),
        leaf_counts=np.array([3, 4]),
    )


def forest_of(*trees: Tree, n_features: int) -> ModelText:
    """Make a model of these trees."""
    return ModelText(tuple(f"f{feature}" for feature in range(n_features)), trees)


def staircase(feature: int, n_features: int) -> ModelText:
    """Make a forest that scores a feature between 0 and 1 by its tenths."""
    steps = (stump(feature, step / 10, 0.0, 0.1) for step in range(10))
    return forest_of(*steps, n_features=n_features)


def judged(n_queries: int, n_features: int, seed: int, documents: int = 12) -> RankingDataset:
    """Draw documents whose label is the third of the first feature; the last one is constant in a query."""
    random = np.random.default_rng(seed)
    features = random.random((n_queries * documents, n_features)).astype(np.float32)
    features[:, -1] = np.repeat(random.random(n_queries), documents)
    boundaries = np.arange(n_queries + 1) * documents
    return RankingDataset.from_arrays(features, np.floor(3 * features[:, 0]), boundaries)
