"""Lay out a forest for the kernels of `core.scoring.descent`.

Thresholds are replaced by their ranks. A column is a feature with a direction of its missing values. A
document's code in a column is the number of the column's thresholds that its value exceeds: the value is at
most a threshold exactly if the code is at most the threshold's rank. A node therefore only compares two small
integers, whatever its thresholds and missing values are. A set of categories is a column, too; its codes are
0 (in the set) and 1.
"""

from collections.abc import Sequence

import numpy as np

from core.scoring.descent import (
    CHILD_BITS,
    COLUMN_BITS,
    LANES,
    RANK_BITS,
    FlatForest,
    MissingDirection,
    lay_out_tree,
)
from core.scoring.tree import CATEGORICAL, Tree
from core.types import Float64Array, Int64Array, UInt32Array

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
