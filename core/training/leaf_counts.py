"""Count the training documents at each leaf and split of a model, and write the counts into its text.

LightGBM estimates these numbers from sums of hessians where several machines train together.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import lightgbm
import numpy as np

from core.ranges import read_only, use_threads
from core.scoring.descent import count_arrivals
from core.scoring.forest import flatten
from core.scoring.model_text import END, ModelText
from core.scoring.tree import Tree
from core.types import Float32Array, Int64Array

_BLOCK_CELLS = 2**21  # 8 MB of features


class Rows(Protocol):
    """Features that are read a range of rows at a time."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> Float32Array: ...


def leaf_counts(model_text: str, features: Rows, threads: int) -> Int64Array:
    """Count the documents that reach each leaf of a model; counts in the model's text are ignored.

    Args:
        model_text: Model in LightGBM's text format.
        features: (n_documents, n_features) in the model's order, read a block of rows at a time.

    Returns:
        (n_leaves,) documents of the leaves of all trees, one tree after the other. Counts of several parts of
        a dataset add up to the counts of the whole.

    Raises:
        ModelError: The text is not a model.

    Example:
        >>> text = ModelText(("f",), (Tree.leaf(0.5),)).write()
        >>> leaf_counts(text, np.zeros((3, 1), np.float32), threads=1).tolist()
        [3]
    """
    text = ModelText.read(model_text)
    step = max(1, _BLOCK_CELLS // max(len(text.feature_names), len(text.trees)))
    blocks = (features[first : first + step] for first in range(0, len(features), step))
    trees = _numbered(text.trees)
    flat = flatten(trees)
    if flat is None:  # `flatten` does not support every forest
        return _counted_by_lightgbm(replace(text, trees=trees), blocks, threads)
    use_threads(threads)
    arrivals = np.zeros((threads, len(flat.nodes)), np.int64)
    for block in blocks:
        count_arrivals(read_only(np.ascontiguousarray(block)), flat, arrivals)
    # `_numbered` counts leaves from 1; splits and padding trees have the value 0.
    is_leaf = flat.values > 0.0
    counts = np.zeros(np.count_nonzero(is_leaf), np.int64)
    counts[flat.values[is_leaf].astype(np.int64) - 1] = arrivals.sum(axis=0)[is_leaf]
    return counts


def with_counts(model_text: str, counts: Int64Array, first_tree: int = 0) -> str:
    """Write the document counts of leaves and splits into a model's text.

    The count of a split is the sum over its subtree. Leaf weights, which are hessian sums, stay unchanged.

    Args:
        model_text: Model in LightGBM's text format.
        counts: (n_leaves,) as `leaf_counts` returns them.
        first_tree: The first tree to change; earlier trees keep their counts.

    Raises:
        ModelError: The text is not a model.
        ValueError: There are not as many counts as leaves.
    """
    trees = ModelText.read(model_text).trees
    before, end, tail = model_text.partition(END)
    head, *blocks = before.split("\nTree=")
    ends = np.cumsum([len(tree.leaf_values) for tree in trees])
    if len(counts) != (ends[-1] if len(ends) else 0):
        raise ValueError(f"the number of counts, {len(counts)}, differs from the number of leaves")
    for index in range(first_tree, len(blocks)):
        counts_of_leaves = counts[ends[index] - len(trees[index].leaf_values) : ends[index]]
        block = _with_line(blocks[index], "leaf_count", counts_of_leaves)
        blocks[index] = _with_line(block, "internal_count", _split_counts(trees[index], counts_of_leaves))
    # LightGBM reads each tree from the position that these sizes give.
    sizes = " ".join(str(len(f"Tree={block}\n".encode())) for block in blocks)
    head = re.sub(r"(?m)^tree_sizes=.*$", f"tree_sizes={sizes}", head)
    return "\nTree=".join([head, *blocks]) + end + tail


def _with_line(block: str, name: str, counts: Int64Array) -> str:
    return re.sub(rf"(?m)^{name}=.*$", f"{name}={' '.join(map(str, counts.tolist()))}", block)


def _split_counts(tree: Tree, counts_of_leaves: Int64Array) -> Int64Array:
    counts_of_splits = np.zeros(len(tree.left), np.int64)
    for split in reversed(range(len(tree.left))):  # a child has a greater number than its parent
        for child in (tree.left[split], tree.right[split]):
            counts_of_splits[split] += counts_of_splits[child] if child >= 0 else counts_of_leaves[-child - 1]
    return counts_of_splits


def _numbered(trees: Sequence[Tree]) -> tuple[Tree, ...]:
    """Replace leaf values by leaf numbers, counted from 1 across all trees."""
    ends = np.cumsum([len(tree.leaf_values) for tree in trees]).tolist()
    # The linear models of leaves do not influence which leaf a document reaches.
    return tuple(
        replace(tree, leaf_values=np.arange(end + 1.0 - len(tree.leaf_values), end + 1.0), linear=None)
        for tree, end in zip(trees, ends, strict=True)
    )


def _counted_by_lightgbm(text: ModelText, blocks: Iterator[Float32Array], threads: int) -> Int64Array:
    booster = lightgbm.Booster(model_str=text.write())
    sizes = [len(tree.leaf_values) for tree in text.trees]
    firsts = np.cumsum(sizes) - sizes
    counts = np.zeros(sum(sizes), np.int64)
    for block in blocks:
        leaves: Any = booster.predict(block, pred_leaf=True, num_threads=threads)
        counts += np.bincount((leaves.astype(np.int64) + firsts).ravel(), minlength=len(counts))
    return counts
