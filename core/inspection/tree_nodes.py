"""A single tree of a forest as nested nodes, for display."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from core.data.categories import Categories
from core.errors import InvalidInput
from core.names import counted
from core.scoring.model_text import ModelText
from core.scoring.tree import CATEGORICAL, Tree
from core.types import Int64Array

MAX_DEPTH = 64
_GOES_LEFT = 2
_MISSING: tuple[Literal["none", "zero", "nan"], ...] = ("none", "zero", "nan")

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Linear:
    """The linear model of a leaf, used if none of its features is missing."""

    constant: float
    coefficients: Mapping[str, float]


@dataclass(frozen=True)
class Leaf:
    """A leaf.

    Attributes:
        value: Constant output of the leaf.
        documents: Training documents in the leaf; None if not stored in the model.
        linear: Linear model, which replaces `value`; None for constant leaves.
    """

    kind: ClassVar[str] = "leaf"

    leaf: int
    value: float
    documents: int | None
    linear: Linear | None


@dataclass(frozen=True)
class Split:
    """A split by one feature.

    Attributes:
        split: Index of the split in the tree; 0 is the root.
        decision: Values `<=` the threshold, or `in` the categories, go left.
        threshold: Threshold; None for categories, and if it is infinite and separates only missing values.
        categories: Categories that go left, as texts if stored in the model, else as codes; None for numbers.
        missing: Values that count as missing: `nan`, `zero` (and NaN), or `none`, where NaN counts as 0.
        missing_goes: Child of missing values; None if no value counts as missing.
        gain: Reduction of the training loss.
        documents: Training documents at the split; None if not stored in the model.
        leaves: Number of leaves below.
        left: Left child, None below the requested depth.
        right: Right child, None below the requested depth.
    """

    kind: ClassVar[str] = "split"

    split: int
    feature: str
    decision: Literal["<=", "in"]
    threshold: float | None
    categories: tuple[int | str, ...] | None
    missing: Literal["none", "zero", "nan"]
    missing_goes: Side | None
    gain: float
    documents: int | None
    leaves: int
    left: "Split | Leaf | None"
    right: "Split | Leaf | None"


def tree_nodes(
    text: ModelText, index: int, feature_names: tuple[str, ...], root: int = 0, depth: int = MAX_DEPTH
) -> Split | Leaf:
    """Return a tree, or the subtree of one of its splits.

    Args:
        index: Index of the tree, from 0.
        root: Index of the top split; 0 for the leaf of a tree without splits.
        depth: Levels of splits, at most `MAX_DEPTH`.

    Raises:
        InvalidInput: There is no such tree, or no such split.
    """
    if not 0 <= index < len(text.trees):
        raise InvalidInput.at("/index", f"the model has {counted(len(text.trees), 'tree')}, counted from 0")
    tree = text.trees[index]
    if not 0 <= root < max(1, len(tree.left)):
        raise InvalidInput.at("/root", f"the tree has {counted(len(tree.left), 'split')}, counted from 0")
    reader = _Reader(tree, feature_names, text.categories)
    return reader.node(root if len(tree.left) else -1, depth)


class _Reader:
    """Reader of the nodes of one tree."""

    def __init__(
        self, tree: Tree, feature_names: tuple[str, ...], categories: Mapping[int, Categories]
    ) -> None:
        self._tree, self._names, self._categories_by_feature = tree, feature_names, categories
        self._leaves_below = _leaves_below(tree)

    def node(self, number: int, depth: int) -> Split | Leaf:
        """Return split `number`, or, for a negative number, leaf -number - 1."""
        return self._split(number, depth) if number >= 0 else self._leaf(-number - 1)

    def _split(self, split: int, depth: int) -> Split:
        tree = self._tree
        decision, threshold = int(tree.decisions[split]), float(tree.thresholds[split])
        categorical = bool(decision & CATEGORICAL)
        # LightGBM always sends missing values to the right of a categorical split.
        missing = "nan" if categorical else _MISSING[decision >> 2]
        missing_side: Side = "left" if decision & _GOES_LEFT and not categorical else "right"
        left, right = (
            self.node(int(children[split]), depth - 1) if depth > 1 else None
            for children in (tree.left, tree.right)
        )
        return Split(
            split=split,
            feature=self._names[tree.features[split]],
            decision="in" if categorical else "<=",
            threshold=None if categorical or np.isinf(threshold) else threshold,
            categories=self._categories(int(tree.features[split]), int(threshold)) if categorical else None,
            missing=missing,
            missing_goes=None if missing == "none" else missing_side,
            gain=float(tree.gains[split]),
            documents=int(tree.split_counts[split]) or None,
            leaves=int(self._leaves_below[split]),
            left=left,
            right=right,
        )

    def _categories(self, feature: int, index: int) -> tuple[int | str, ...]:
        bits = np.unpackbits(self._tree.categories[index].view(np.uint8), bitorder="little")
        codes = np.flatnonzero(bits)
        texts = self._categories_by_feature.get(feature, Categories(())).texts(codes.astype(np.float64))
        return tuple(code if text is None else text for code, text in zip(codes.tolist(), texts, strict=True))

    def _leaf(self, leaf: int) -> Leaf:
        documents = int(self._tree.leaf_counts[leaf]) or None
        return Leaf(leaf, float(self._tree.leaf_values[leaf]), documents, self._linear(leaf))

    def _linear(self, leaf: int) -> Linear | None:
        linear = self._tree.linear
        if linear is None:
            return None
        first = int(linear.counts[:leaf].sum())
        terms = slice(first, first + int(linear.counts[leaf]))
        names = (self._names[feature] for feature in linear.features[terms])
        coefficients = dict(zip(names, linear.coefficients[terms].tolist(), strict=True))
        return Linear(float(linear.constants[leaf]), coefficients)


def _leaves_below(tree: Tree) -> Int64Array:
    """Count the leaves below each split, (n_splits,); children come after their parents."""
    counts = np.ones(2 * len(tree.left) + 1, np.int64)  # leaf k is at -k - 1
    for split in range(len(tree.left) - 1, -1, -1):
        counts[split] = counts[tree.left[split]] + counts[tree.right[split]]
    return counts[: len(tree.left)]
