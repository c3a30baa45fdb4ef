"""Random forests, as LightGBM writes them, and documents that fall close to their thresholds."""

import numpy as np

from core.scoring.model_text import ModelText, Tree
from core.types import Float64Array

ZERO_THRESHOLD = float(np.float32(1e-35))  # LightGBM takes what is no farther from 0 for 0
SPECIAL = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.2e-308, ZERO_THRESHOLD, -ZERO_THRESHOLD, 2 * ZERO_THRESHOLD),
    *(1e300, -1e300, np.inf, -np.inf, 1.0, -1.0),
)


def random_model_text(random: np.random.Generator, n_features: int, n_trees: int, max_leaves: int) -> str:
    """Write a forest of trees of any shape, with special thresholds and every way of missing values."""
    trees = tuple(_tree(random, n_features, max_leaves) for _ in range(n_trees))
    return ModelText(tuple(f"f{i}" for i in range(n_features)), trees).write()


def documents_near(
    random: np.random.Generator, thresholds: Float64Array, n_documents: int, n_features: int
) -> Float64Array:
    """Draw documents from the thresholds, their neighbours in float64, NaN and special values."""
    near = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
    values = np.concatenate([*near, SPECIAL, [np.nan] * 4, random.normal(size=8)])
    return random.choice(values, size=(n_documents, n_features))


def thresholds_of(model_text: str) -> Float64Array:
    """Return all thresholds of a model."""
    return np.concatenate([tree.thresholds for tree in ModelText.read(model_text).trees])


def _tree(random: np.random.Generator, n_features: int, max_leaves: int) -> Tree:
    n_splits = int(random.integers(max_leaves))
    leaf_values = random.normal(size=n_splits + 1) * 10.0 ** random.integers(-5, 5)
    if not n_splits:
        return Tree.leaf(float(leaf_values[0]))
    left, right = _shape(random, n_splits)
    return Tree(
        features=random.integers(n_features, size=n_splits),
        thresholds=random.choice([*SPECIAL, *random.normal(size=12).round(1)], size=n_splits),
        decisions=2 * random.integers(2, size=n_splits) + 4 * random.integers(3, size=n_splits),
        left=np.array(left),
        right=np.array(right),
        leaf_values=leaf_values,
    )


def _shape(random: np.random.Generator, n_splits: int) -> tuple[list[int], list[int]]:
    """Split a random leaf again and again; leaf k is -k - 1, and its right half becomes the next leaf."""
    left, right = [-1], [-2]
    for split in range(1, n_splits):
        leaf = -int(random.integers(split + 1)) - 1
        for side in (left, right):
            if leaf in side:
                side[side.index(leaf)] = split
                break
        left.append(leaf)
        right.append(-split - 2)
    return left, right
