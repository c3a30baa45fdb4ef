"""A trained forest as a scoring function, laid out for the kernels of `core.scoring.descent`.

Thresholds are replaced by their ranks. A column is a feature with a direction of its missing values. A
document's code in a column is the number of the column's thresholds that its value exceeds: the value is at
most a threshold exactly if the code is at most the threshold's rank. A node therefore only compares two small
integers, whatever its thresholds and missing values are. A set of categories is a column, too; its codes are
0 (in the set) and 1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.features import SelectedFeatures, row_blocks
from core.errors import ModelError
from core.ranges import over_ranges, read_only, use_threads
from core.scoring.descent import (
    BLOCK,
    CHILD_BITS,
    COLUMN_BITS,
    LANES,
    RANK_BITS,
    FlatForest,
    MissingDirection,
    lay_out_tree,
    leaf_depths,
    score,
)
from core.scoring.model_text import ModelText
from core.scoring.tree import CATEGORICAL, Tree
from core.types import Float64Array, FloatArray, Int64Array, UInt32Array

_KINDS = len(MissingDirection)
# Rows: none, zeros or NaN are missing; columns: missing values go right or left.
_DIRECTIONS = np.array(
    [
        [MissingDirection.NOWHERE, MissingDirection.NOWHERE],
        [MissingDirection.RIGHT_IF_ZERO, MissingDirection.LEFT_IF_ZERO],
        [MissingDirection.RIGHT_IF_NAN, MissingDirection.LEFT_IF_NAN],
    ]
)
# A set costs 6.5 ns per document here, a tree 200 ns in LightGBM: half the number at which costs are equal.
MAX_SETS_PER_TREE = 16


def flatten(trees: Sequence[Tree]) -> FlatForest | None:
    """Lay out a forest for the kernels, or return None where LightGBM should score it.

    LightGBM should score linear leaves, and forests that are too large for the bits of a node. It is also
    faster for many sets of categories.

    Args:
        trees: Trees in the order in which their values are summed.
    """
    if any(tree.linear is not None for tree in trees):
        return None
    n_trees = len(trees)
    trees = [*trees, *[Tree.leaf(0.0)] * (LANES - len(trees) % LANES)]
    features, decisions, thresholds_of_splits = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("features", "decisions", "thresholds")
    )
    numerical = decisions & CATEGORICAL == 0
    directed_features = features[numerical] * _KINDS + missing_directions(decisions[numerical])
    keys, numerical_columns = np.unique(directed_features, return_inverse=True)
    columns, thresholds, ranks = _rank_thresholds(keys, numerical_columns, thresholds_of_splits[numerical])
    sets, words, columns_of_sets = _category_sets(trees)
    if len(sets) > MAX_SETS_PER_TREE * n_trees:
        return None
    column_of, rank_of = np.empty(len(features), np.int64), np.zeros(len(features), np.int64)
    column_of[numerical], rank_of[numerical] = numerical_columns, ranks
    column_of[~numerical] = len(keys) + columns_of_sets
    n_columns = len(keys) + len(sets)
    n_nodes = np.array([2 * len(tree.leaf_values) - 1 for tree in trees])
    needed = {COLUMN_BITS: n_columns, RANK_BITS: rank_of.max(initial=0) + 2, CHILD_BITS: n_nodes.sum() + 1}
    if any(number > 1 << bits for bits, number in needed.items()):
        return None
    conditions = (column_of << RANK_BITS) | rank_of
    roots = np.cumsum(n_nodes) - n_nodes
    nodes, values = np.empty(n_nodes.sum(), np.uint64), np.zeros(n_nodes.sum())
    split = 0
    for tree, root in zip(trees, roots.tolist(), strict=True):
        tree_conditions = conditions[split : split + len(tree.left)]
        lay_out_tree(tree.left, tree.right, tree.leaf_values, tree_conditions, root, nodes, values)
        split += len(tree_conditions)
    return FlatForest(columns, thresholds, sets, words, nodes, values, roots.astype(np.uint64))


def _category_sets(trees: Sequence[Tree]) -> tuple[Int64Array, UInt32Array, Int64Array]:
    """Return the distinct sets of categories, their words, and the set of each categorical split."""
    numbers: dict[tuple[int, bytes], int] = {}
    sets_of_splits, words = [], [np.empty(0, np.uint32)]
    for tree in trees:
        for split in np.flatnonzero(tree.decisions & CATEGORICAL).tolist():
            categories = tree.categories[int(tree.thresholds[split])]
            key = (int(tree.features[split]), categories.tobytes())
            if key not in numbers:
                words.append(categories)
            sets_of_splits.append(numbers.setdefault(key, len(numbers)))
    lengths = np.array([len(part) for part in words[1:]], np.int64)
    features = np.array([feature for feature, _ in numbers], np.int64)
    sets = np.column_stack([features, np.cumsum(lengths) - lengths, lengths])
    return sets, np.concatenate(words), np.array(sets_of_splits, np.int64)


def missing_directions(decisions: Int64Array) -> Int64Array:
    """Return the `MissingDirection` of numerical splits from the bits of their `Tree.decisions`."""
    goes_left, missing = (decisions >> 1) & 1, decisions >> 2
    return np.asarray(_DIRECTIONS[missing, goes_left], np.int64)


def _rank_thresholds(
    keys: Int64Array, column_of: Int64Array, thresholds: Float64Array
) -> tuple[Int64Array, Float64Array, Int64Array]:
    """Sort each column's thresholds; return the columns, the thresholds, and each split's rank."""
    order = np.lexsort((thresholds, column_of))
    in_order, columns_in_order = thresholds[order], column_of[order]
    first = np.ones(len(order), bool)  # the first of equal thresholds of a column
    first[1:] = (in_order[1:] != in_order[:-1]) | (columns_in_order[1:] != columns_in_order[:-1])
    counts = np.bincount(columns_in_order[first], minlength=len(keys))
    levels = np.array([int(count).bit_length() for count in counts], np.int64)
    offsets = np.concatenate([[0], np.cumsum((1 << levels) - 1)])
    before = np.cumsum(counts) - counts
    rank_in_order = np.cumsum(first) - 1 - before[columns_in_order]
    filled = np.full(offsets[-1], np.inf)
    filled[offsets[columns_in_order] + rank_in_order] = in_order
    rank_of = np.empty(len(order), np.int64)
    rank_of[order] = rank_in_order
    columns = np.column_stack([keys // _KINDS, keys % _KINDS, offsets[:-1], levels])
    return columns.astype(np.int64), filled, rank_of


MIN_PARALLEL_DOCUMENTS = 64 * BLOCK  # starting threads takes longer than scoring fewer documents


class Forest:
    """A LightGBM model that scores documents.

    Scores are raw sums of leaf values in float64, bit for bit as by LightGBM's `predict(raw_score=True)`.

    Attributes:
        max_splits: Sum of the depths of all trees: upper bound of the splits that a document passes.
        size_bytes: Approximate memory in bytes.
    """

    def __init__(self, text: ModelText) -> None:
        flat = flatten(text.trees)
        self._trees: FlatForest | Any = flat or _booster(text)
        self.size_bytes = sum(array.nbytes for array in flat or _arrays(text))
        self.feature_names = text.feature_names
        self.n_trees = len(text.trees)
        self.max_splits = sum(int(leaf_depths(tree.left, tree.right).max()) for tree in text.trees)

    @classmethod
    def parse(cls, model_text: str | bytes) -> "Forest":
        """Read a model from LightGBM's text form.

        Raises:
            ModelError: The text is not a LightGBM model, or is damaged.
        """
        return cls(ModelText.read(model_text))

    @property
    def n_features(self) -> int:
        """Return the number of features of a document."""
        return len(self.feature_names)

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the model's feature order; NaN where missing.
            threads: Threads to use, where there are enough documents for them.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: The number of features is not the model's.
        """
        if len(features.shape) != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"the model needs {self.n_features} features, but got {features.shape[-1]}")
        if isinstance(features, SelectedFeatures):
            scored = [self.score(block, threads) for _, block in row_blocks(features)]
            return np.concatenate(scored) if scored else np.empty(0)
        if features.dtype not in (np.float32, np.float64) or not features.flags.c_contiguous:
            features = np.ascontiguousarray(features, np.float64)
        flat = self._trees
        if not isinstance(flat, FlatForest):
            return _scored_by_lightgbm(flat, features, threads)
        scores, n_blocks = np.empty(len(features)), -(-len(features) // BLOCK)
        view = read_only(features)
        if threads > 1 and len(features) >= MIN_PARALLEL_DOCUMENTS:
            use_threads(threads)
            over_ranges(score, n_blocks, view, flat, scores, work=features.size)
        else:
            score(0, n_blocks, view, flat, scores)
        return scores


def _arrays(text: ModelText) -> Iterator[NDArray[Any]]:
    for tree in text.trees:
        yield from (value for value in vars(tree).values() if isinstance(value, np.ndarray))


def _booster(text: ModelText) -> Any:
    import lightgbm  # on first use: the import takes a second and 100 MB, and is rarely needed

    return lightgbm.Booster(model_str=text.write())


def _scored_by_lightgbm(booster: Any, features: FloatArray, threads: int) -> Float64Array:
    if not len(features):
        return np.empty(0)
    return np.asarray(booster.predict(features, raw_score=True, num_threads=threads), np.float64)
