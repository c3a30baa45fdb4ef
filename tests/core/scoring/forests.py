"""Random forests, as LightGBM writes them, and documents that fall close to their thresholds."""

from typing import Any

import numpy as np

from core.types import Float64Array

ZERO_THRESHOLD = float(np.float32(1e-35))  # LightGBM takes what is no farther from 0 for 0
SPECIAL = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.2e-308, ZERO_THRESHOLD, -ZERO_THRESHOLD, 2 * ZERO_THRESHOLD),
    *(1e300, -1e300, np.inf, -np.inf, 1.0, -1.0),
)


def random_model_text(random: np.random.Generator, n_features: int, n_trees: int, max_leaves: int) -> str:
    """Write a forest of trees of any shape, with special thresholds and every way of missing values."""
    trees = [_tree(random, index, n_features, max_leaves) for index in range(n_trees)]
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={n_features - 1}\nfeature_names={' '.join(f'f{i}' for i in range(n_features))}\n"
        f"feature_infos={' '.join(['none'] * n_features)}\n\n{''.join(trees)}end of trees\n"
    )


def documents_near(
    random: np.random.Generator, thresholds: Float64Array, n_documents: int, n_features: int
) -> Float64Array:
    """Draw documents from the thresholds, their neighbours in float64, NaN and special values."""
    near = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
    values = np.concatenate([*near, SPECIAL, [np.nan] * 4, random.normal(size=8)])
    return random.choice(values, size=(n_documents, n_features))


def thresholds_of(model_text: str) -> Float64Array:
    """Return all thresholds of a model."""
    lines = [line for line in model_text.split("\n") if line.startswith("threshold=")]
    return np.array([float(token) for line in lines for token in line[10:].split()])


def _tree(random: np.random.Generator, index: int, n_features: int, max_leaves: int) -> str:
    n_splits = int(random.integers(max_leaves))
    values: dict[str, Any] = {"leaf_value": random.normal(size=n_splits + 1) * 10.0 ** random.integers(-5, 5)}
    lines = [f"Tree={index}", f"num_leaves={n_splits + 1}", "num_cat=0"]
    if n_splits:
        left, right = _shape(random, n_splits)
        pool = np.concatenate([SPECIAL, random.normal(size=12).round(1)])
        values |= {
            "split_feature": random.integers(n_features, size=n_splits),
            "split_gain": np.zeros(n_splits, int),
            "threshold": random.choice(pool, size=n_splits),
            "decision_type": 2 * random.integers(2, size=n_splits) + 4 * random.integers(3, size=n_splits),
            "left_child": left,
            "right_child": right,
        }
    lines += [f"{name}={' '.join(_token(value) for value in row)}" for name, row in values.items()]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", "", ""])


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


def _token(value: object) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
