"""Traversal of the trees of a forest: eight descents at a time, without data-dependent branches.

A single descent waits for memory and for its previous comparison, and a mispredicted branch costs as much as
several nodes. Eight interleaved descents hide these latencies. They are eight documents in one tree or, for
the last few documents, one document in eight trees. A leaf is its own child, so that finished descents stay
at their leaf until all are finished (branch-free traversal: Asadi, Lin and de Vries, 2014).

The values of a document's leaves are added in float64 in the order of the trees, as LightGBM does.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from core.jit import exact, exact_inlined, exact_nonallocating
from core.ranges import over_ranges
from core.types import Float64Array, FloatArray, Int64Array, UInt16Array, UInt32Array, UInt64Array

LANES = 8
BLOCK = 64  # documents whose codes fit in the L1 cache together with a tree


class MissingDirection(IntEnum):
    """Child of missing values, and which values are missing: LightGBM's `missing_type` None, Zero or NaN."""

    NOWHERE = 0
    LEFT_IF_ZERO = 1
    RIGHT_IF_ZERO = 2
    LEFT_IF_NAN = 3
    RIGHT_IF_NAN = 4


# Fields of a node, from the lowest bit: rank of the threshold, column, index of the left child, which the
# right child follows, and a bit for leaves.
RANK_BITS, COLUMN_BITS, CHILD_BITS = 15, 17, 31
_RANK_MASK, _COLUMN_MASK, _CHILD_MASK = (
    np.uint64((1 << bits) - 1) for bits in (RANK_BITS, COLUMN_BITS, CHILD_BITS)
)
_COLUMN_SHIFT, _CHILD_SHIFT = np.uint64(RANK_BITS), np.uint64(RANK_BITS + COLUMN_BITS)
_LEAF = np.uint64(1 << 63)
_LEFT_IF_ZERO, _RIGHT_IF_ZERO = int(MissingDirection.LEFT_IF_ZERO), int(MissingDirection.RIGHT_IF_ZERO)
_LEFT_IF_NAN = int(MissingDirection.LEFT_IF_NAN)
_ZERO = float(np.float32(1e-35))  # LightGBM's kZeroThreshold: values up to this magnitude are 0
_ONE = np.uint64(1)

Eight = tuple[np.uint64, ...]


class FlatForest(NamedTuple):
    """The arrays of a forest.

    Attributes:
        columns: (n_columns, 4) feature, direction of missing values (`MissingDirection`), first threshold,
            steps of a binary search in the thresholds.
        thresholds: Thresholds of all columns, ascending within each column, padded with infinity.
        sets: (n_sets, 3) feature, first word and number of words of each set of categories; the sets are the
            last columns.
        words: 32-bit words of all sets, one bit per category.
        nodes: Column, rank and child of each node, packed; a leaf is its own child.
        values: (n_nodes,) value of each leaf.
        roots: First node of each tree, padded to a multiple of `LANES` by single leaves of value 0.
    """

    columns: Int64Array
    thresholds: Float64Array
    sets: Int64Array
    words: UInt32Array
    nodes: UInt64Array
    values: Float64Array
    roots: UInt64Array


@exact
def score(
    first_block: int, last_block: int, features: FloatArray, forest: FlatForest, scores: Float64Array
) -> None:
    """Score the documents of a range of blocks.

    Args:
        last_block: The block after the last one.
        features: (n_documents, n_features).
        scores: (n_documents,) output.
    """
    width = len(forest.columns) + len(forest.sets)
    codes = np.empty(min(len(features), BLOCK) * width, np.uint16)
    for block in range(first_block, last_block):
        start = block * BLOCK
        _score_block(features[start : start + BLOCK], forest, codes, scores[start : start + BLOCK])


@exact_inlined
def _score_block(features: FloatArray, forest: FlatForest, codes: UInt16Array, scores: Float64Array) -> None:
    width = encode_block(features, forest, codes)
    _descend(codes, width, forest.nodes, forest.values, forest.roots, scores)


@exact_inlined
def encode_block(features: FloatArray, forest: FlatForest, codes: UInt16Array) -> int:
    """Write the codes of up to `BLOCK` documents, row by row; return the number of codes per document."""
    width = len(forest.columns) + len(forest.sets)
    _encode(features, forest.columns, forest.thresholds, width, codes)
    if len(forest.sets):
        _encode_categories(features, forest.sets, forest.words, width, codes)
    return width


@exact_inlined
def _search_value(value: float, missing_side: int) -> float:
    """Return the search value: -inf for missing values that go left, NaN for those that go right."""
    if value != value:
        if missing_side == _LEFT_IF_NAN:
            return -np.inf
        if missing_side > _LEFT_IF_NAN:
            return np.nan
        value = 0.0
    if -_ZERO <= value <= _ZERO:
        if missing_side == _LEFT_IF_ZERO:
            return -np.inf
        return np.nan if missing_side == _RIGHT_IF_ZERO else 0.0
    return value


@exact_inlined
def _search_step(position: np.uint64, level: np.uint64, value: float, thresholds: Float64Array) -> np.uint64:
    """Continue a binary search; NaN exceeds every threshold, infinity included.

    The step is added by a shift, because the compiler would turn a condition or a multiplication into a
    branch.
    """
    probe = position + (_ONE << level) - _ONE
    return position + (np.uint64(not thresholds[probe] >= value) << level)


@exact_nonallocating
def _encode(
    features: FloatArray, columns: Int64Array, thresholds: Float64Array, width: int, codes: UInt16Array
) -> None:
    n_columns = len(columns)
    n_whole = len(features) // LANES * LANES
    for column in range(n_columns):
        feature, missing_side, start, levels = columns[column]
        offset = np.uint64(start)
        for first in range(0, n_whole, LANES):
            v0 = _search_value(np.float64(features[first, feature]), missing_side)
            v1 = _search_value(np.float64(features[first + 1, feature]), missing_side)
            v2 = _search_value(np.float64(features[first + 2, feature]), missing_side)
            v3 = _search_value(np.float64(features[first + 3, feature]), missing_side)
            v4 = _search_value(np.float64(features[first + 4, feature]), missing_side)
            v5 = _search_value(np.float64(features[first + 5, feature]), missing_side)
            v6 = _search_value(np.float64(features[first + 6, feature]), missing_side)
            v7 = _search_value(np.float64(features[first + 7, feature]), missing_side)
            f0 = f1 = f2 = f3 = f4 = f5 = f6 = f7 = offset
            level = np.uint64(levels)
            while level > np.uint64(0):
                level -= _ONE
                f0 = _search_step(f0, level, v0, thresholds)
                f1 = _search_step(f1, level, v1, thresholds)
                f2 = _search_step(f2, level, v2, thresholds)
                f3 = _search_step(f3, level, v3, thresholds)
                f4 = _search_step(f4, level, v4, thresholds)
                f5 = _search_step(f5, level, v5, thresholds)
                f6 = _search_step(f6, level, v6, thresholds)
                f7 = _search_step(f7, level, v7, thresholds)
            at = first * width + column
            for position in (f0, f1, f2, f3, f4, f5, f6, f7):
                codes[at] = np.uint16(position - offset)
                at += width
    for document in range(n_whole, len(features)):
        for column in range(n_columns):
            feature, missing_side, start, levels = columns[column]
            value = _search_value(np.float64(features[document, feature]), missing_side)
            position, level = np.uint64(start), np.uint64(levels)
            while level > np.uint64(0):
                level -= _ONE
                position = _search_step(position, level, value, thresholds)
            codes[document * width + column] = np.uint16(position - np.uint64(start))


@exact_nonallocating
def _encode_categories(
    features: FloatArray, sets: Int64Array, words: UInt32Array, width: int, codes: UInt16Array
) -> None:
    first_column = width - len(sets)
    for document in range(len(features)):
        for column in range(len(sets)):
            feature, start, n_words = sets[column]
            value = np.float64(features[document, feature])
            code = np.uint16(1)
            # LightGBM truncates to an integer; values outside int32 belong to no category.
            if -1.0 < value < 2147483648.0:
                category = np.int64(value)
                if category >> 5 < n_words:
                    bit = words[start + (category >> 5)] >> np.uint32(category & 31)
                    code = np.uint16(1) - np.uint16(bit & np.uint32(1))
            codes[document * width + first_column + column] = code


@exact_inlined
def _child_of(node: np.uint64, nodes: UInt64Array, codes: UInt16Array, row: np.uint64) -> np.uint64:
    code = np.uint64(codes[row + ((node >> _COLUMN_SHIFT) & _COLUMN_MASK)])
    goes_right = np.uint64(code > (node & _RANK_MASK))
    return np.uint64(nodes[((node >> _CHILD_SHIFT) & _CHILD_MASK) + goes_right])


@exact_inlined
def leaves(nodes: UInt64Array, roots: Eight, codes: UInt16Array, rows: Eight) -> Eight:
    """Return the leaves that eight descents reach, given their roots and rows of codes."""
    r0, r1, r2, r3, r4, r5, r6, r7 = roots
    c0, c1, c2, c3, c4, c5, c6, c7 = rows
    n0, n1, n2, n3, n4, n5, n6, n7 = (
        nodes[r0], nodes[r1], nodes[r2], nodes[r3], nodes[r4], nodes[r5], nodes[r6], nodes[r7]
    )  # fmt: skip
    while n0 & n1 & n2 & n3 & n4 & n5 & n6 & n7 < _LEAF:
        n0 = _child_of(n0, nodes, codes, c0)
        n1 = _child_of(n1, nodes, codes, c1)
        n2 = _child_of(n2, nodes, codes, c2)
        n3 = _child_of(n3, nodes, codes, c3)
        n4 = _child_of(n4, nodes, codes, c4)
        n5 = _child_of(n5, nodes, codes, c5)
        n6 = _child_of(n6, nodes, codes, c6)
        n7 = _child_of(n7, nodes, codes, c7)
    return (
        (n0 >> _CHILD_SHIFT) & _CHILD_MASK, (n1 >> _CHILD_SHIFT) & _CHILD_MASK,
        (n2 >> _CHILD_SHIFT) & _CHILD_MASK, (n3 >> _CHILD_SHIFT) & _CHILD_MASK,
        (n4 >> _CHILD_SHIFT) & _CHILD_MASK, (n5 >> _CHILD_SHIFT) & _CHILD_MASK,
        (n6 >> _CHILD_SHIFT) & _CHILD_MASK, (n7 >> _CHILD_SHIFT) & _CHILD_MASK,
    )  # fmt: skip


@exact_nonallocating
def _descend(
    codes: UInt16Array,
    n_columns: int,
    nodes: UInt64Array,
    values: Float64Array,
    roots: UInt64Array,
    scores: Float64Array,
) -> None:
    scores[:] = 0.0
    n = np.uint64(n_columns)
    n_whole = len(scores) // LANES * LANES
    for tree in range(len(roots)):
        root = roots[tree]
        for first in range(0, n_whole, LANES):
            row = np.uint64(first) * n
            rows = (row, row + n, row + n * np.uint64(2), row + n * np.uint64(3), row + n * np.uint64(4),
                    row + n * np.uint64(5), row + n * np.uint64(6), row + n * np.uint64(7))  # fmt: skip
            ends = leaves(nodes, (root, root, root, root, root, root, root, root), codes, rows)
            for lane in range(LANES):
                scores[first + lane] += values[ends[lane]]
    for document in range(n_whole, len(scores)):
        row = np.uint64(document) * n
        total = 0.0
        for tree in range(0, len(roots), LANES):
            trees = (roots[tree], roots[tree + 1], roots[tree + 2], roots[tree + 3], roots[tree + 4],
                     roots[tree + 5], roots[tree + 6], roots[tree + 7])  # fmt: skip
            ends = leaves(nodes, trees, codes, (row, row, row, row, row, row, row, row))
            for lane in range(LANES):
                total += values[ends[lane]]
        scores[document] = total


@exact
def lay_out_tree(
    left: Int64Array,
    right: Int64Array,
    leaf_values: Float64Array,
    conditions: Int64Array,
    root: int,
    nodes: UInt64Array,
    values: Float64Array,
) -> None:
    """Write a tree level by level, the children of a split side by side.

    Args:
        left: (n_splits,) left children; leaf k is written as -k - 1.
        right: (n_splits,) right children.
        leaf_values: (n_splits + 1,).
        conditions: (n_splits,) column and rank of each split, packed as in `FlatForest.nodes`.
        root: Index of the tree's first node in `nodes`.
        nodes: Nodes of all trees; output.
        values: Values of all nodes; output.
    """
    waiting = np.empty(2 * len(left) + 1, np.int64)
    waiting[0] = 0 if len(left) else -1
    n_nodes = 1
    for at in range(2 * len(left) + 1):
        split = waiting[at]
        if split < 0:
            nodes[root + at] = _LEAF | (np.uint64(root + at) << _CHILD_SHIFT) | _RANK_MASK
            values[root + at] = leaf_values[-split - 1]
        else:
            waiting[n_nodes], waiting[n_nodes + 1] = left[split], right[split]
            nodes[root + at] = (np.uint64(root + n_nodes) << _CHILD_SHIFT) | np.uint64(conditions[split])
            n_nodes += 2


@exact
def leaf_depths(left: Int64Array, right: Int64Array) -> Int64Array:
    """Count the splits above each leaf of a tree, (n_splits + 1,).

    Args:
        left: (n_splits,) left children: the index of a later split, or -k - 1 for leaf k.
        right: (n_splits,) right children.
    """
    split_depths, depths = np.zeros(len(left), np.int64), np.zeros(len(left) + 1, np.int64)
    for split in range(len(left)):
        for child in (left[split], right[split]):
            if child < 0:
                depths[-child - 1] = split_depths[split] + 1
            else:
                split_depths[child] = split_depths[split] + 1
    return depths


def count_arrivals(features: FloatArray, forest: FlatForest, arrivals: Int64Array) -> None:
    """Count the documents that reach each leaf, on up to one thread per row of `arrivals`.

    Args:
        features: (n_documents, n_features).
        forest: Forest to walk; its values are not read.
        arrivals: (n_parts, n_nodes) counts to increase, one row per part of the documents; nodes that are not
            leaves stay unchanged.
    """
    over_ranges(_count_parts, len(arrivals), features, forest, arrivals, work=features.size)


@exact
def _count_parts(
    first_part: int, last_part: int, features: FloatArray, forest: FlatForest, arrivals: Int64Array
) -> None:
    n_blocks, n_parts = (len(features) + BLOCK - 1) // BLOCK, len(arrivals)
    codes = np.empty(BLOCK * (len(forest.columns) + len(forest.sets)), np.uint16)
    for part in range(first_part, last_part):
        for block in range(part * n_blocks // n_parts, (part + 1) * n_blocks // n_parts):
            block_features = features[block * BLOCK : (block + 1) * BLOCK]
            width = encode_block(block_features, forest, codes)
            _count(codes, len(block_features), width, forest.nodes, forest.roots, arrivals[part])


@exact_nonallocating
def _count(
    codes: UInt16Array, n: int, width: int, nodes: UInt64Array, roots: UInt64Array, arrivals: Int64Array
) -> None:
    step = np.uint64(width)
    n_whole = n // LANES * LANES
    for tree in range(len(roots)):
        root = roots[tree]
        for first in range(0, n_whole, LANES):
            row = np.uint64(first) * step
            rows = (row, row + step, row + step * np.uint64(2), row + step * np.uint64(3),
                    row + step * np.uint64(4), row + step * np.uint64(5), row + step * np.uint64(6),
                    row + step * np.uint64(7))  # fmt: skip
            for end in leaves(nodes, (root, root, root, root, root, root, root, root), codes, rows):
                arrivals[end] += 1
    for document in range(n_whole, n):
        row = np.uint64(document) * step
        for tree in range(0, len(roots), LANES):
            trees = (roots[tree], roots[tree + 1], roots[tree + 2], roots[tree + 3], roots[tree + 4],
                     roots[tree + 5], roots[tree + 6], roots[tree + 7])  # fmt: skip
            for end in leaves(nodes, trees, codes, (row, row, row, row, row, row, row, row)):
                arrivals[end] += 1
