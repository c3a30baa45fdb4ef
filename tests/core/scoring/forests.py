"""Random forests, as LightGBM writes them, and documents that fall close to their thresholds."""

import numpy as np

from core.scoring.model_text import ModelText
from core.scoring.tree import LinearLeaves, Tree
from core.types import Float64Array, UInt32Array

ZERO_THRESHOLD = float(np.float32(1e-35))  # LightGBM takes values up to this distance from 0 for 0
SPECIAL = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.2e-308, ZERO_THRESHOLD, -ZERO_THRESHOLD, 2 * ZERO_THRESHOLD),
    *(1e300, -1e300, np.inf, -np.inf, 1.0, -1.0),
    *(-0.5, 31.7, 32.0, 63.0, 64.0, 2147483647.0, 2147483648.0, 3e9),  # ends of 32-bit words
)


def random_model_text(
    random: np.random.Generator,
    n_features: int,
    n_trees: int,
    max_leaves: int,
    *,
    linear: bool = False,
    averages: bool = False,
    categorical: bool = True,
) -> str:
    """Write a forest of trees of any shape, with special thresholds and all treatments of missing values."""
    trees = tuple(_tree(random, n_features, max_leaves, linear, categorical) for _ in range(n_trees))
    return ModelText(tuple(f"f{i}" for i in range(n_features)), trees, averages).write()


def chain_model_text(n_leaves: int, n_features: int) -> str:
    """Write a model of one tree in which every split has a leaf to its left and all others to its right."""
    splits = np.arange(n_leaves - 1)
    none = np.zeros(n_leaves - 1)
    tree = Tree(
        features=splits % n_features,
        thresholds=none,
        decisions=np.full(n_leaves - 1, 2),
        left=-splits - 1,
        right=np.append(splits[1:], -n_leaves),
        leaf_values=np.arange(n_leaves) / n_leaves,
        gains=none,
        split_counts=n_leaves - splits,
        leaf_counts=np.ones(n_leaves, np.int64),
    )
    return ModelText(tuple(f"f{i}" for i in range(n_features)), (tree,)).write()


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


def _tree(
    random: np.random.Generator, n_features: int, max_leaves: int, linear: bool, categorical: bool
) -> Tree:
    n_splits = int(random.integers(max_leaves))
    leaf_values = random.normal(size=n_splits + 1) * 10.0 ** random.integers(-5, 5)
    if not n_splits:
        return Tree.leaf(float(leaf_values[0]))
    left, right = _shape(random, n_splits)
    thresholds = random.choice([*SPECIAL, *random.normal(size=12).round(1)], size=n_splits)
    decisions = 2 * random.integers(2, size=n_splits) + 4 * random.integers(3, size=n_splits)
    of_category = random.random(n_splits) < random.choice([0.0, 0.3, 1.0] if categorical else [0.0])
    thresholds[of_category] = np.arange(of_category.sum())
    decisions[of_category] = decisions[of_category] & ~2 | 1
    return Tree(
        features=random.integers(n_features, size=n_splits),
        thresholds=thresholds,
        decisions=decisions,
        left=np.array(left),
        right=np.array(right),
        leaf_values=leaf_values,
        gains=random.exponential(size=n_splits),
        split_counts=random.integers(1, 100, size=n_splits),
        leaf_counts=random.integers(1, 100, size=n_splits + 1),
        categories=tuple(_some_categories(random) for _ in range(of_category.sum())),
        linear=_linear_leaves(random, n_features, n_splits + 1) if linear else None,
    )


def _some_categories(random: np.random.Generator) -> UInt32Array:
    return random.integers(2**32, size=random.integers(1, 4)).astype(np.uint32)


def _linear_leaves(random: np.random.Generator, n_features: int, n_leaves: int) -> LinearLeaves:
    counts = random.integers(n_features + 1, size=n_leaves)
    features = [np.sort(random.choice(n_features, size=count, replace=False)) for count in counts]
    return LinearLeaves(
        random.normal(size=n_leaves), counts, np.concatenate(features), random.normal(size=counts.sum())
    )


def _shape(random: np.random.Generator, n_splits: int) -> tuple[list[int], list[int]]:
    """Split random leaves repeatedly; leaf k is -k - 1, and the right part becomes a new leaf."""
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
