"""Representation of a forest as one list of nodes in preorder, where a split's left child comes next.

The order is the same in LightGBM's model and in its export, so that nodes can be compared by position.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from core.errors import ModelError
from core.jit import exact
from core.scoring.descent import MissingDirection
from core.scoring.forest import missing_directions
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree
from core.types import Float64Array, Int64Array

N = TypeVar("N")


class Split(NamedTuple):
    """A split as read from an exported file.

    Attributes:
        feature: Position of the feature in the model's order.
        missing_side: Child of missing values (`MissingDirection`).
    """

    feature: int
    threshold: float
    missing_side: int

    @classmethod
    def of(cls, feature: int, threshold: float, *, nan_left: bool) -> "Split":
        """Return a split with a child for NaN, the only missing value."""
        missing_side = MissingDirection.LEFT_IF_NAN if nan_left else MissingDirection.RIGHT_IF_NAN
        return cls(feature, threshold, missing_side)


class Nodes(NamedTuple):
    """The nodes of a forest, tree after tree, in preorder: split, left subtree, right subtree.

    Attributes:
        features: (n_nodes,) feature of a split, -1 at a leaf.
        thresholds: (n_nodes,) 0 at a leaf.
        missing_side: (n_nodes,) child of missing values (`MissingDirection`).
        right: (n_nodes,) right child of a split, whose left child is the next node; 0 at a leaf.
        values: (n_nodes,) value of a leaf, 0 at a split.
        roots: (n_trees,) first node of each tree.
    """

    features: Int64Array
    thresholds: Float64Array
    missing_side: Int64Array
    right: Int64Array
    values: Float64Array
    roots: Int64Array

    @classmethod
    def of(cls, text: ModelText) -> "Nodes":
        """Return the nodes of a model text with numerical splits in preorder."""
        trees = text.trees or (Tree.leaf(0.0),)  # a model without trees
        lengths = np.array([2 * len(tree.leaf_values) - 1 for tree in trees], np.int64)
        roots = np.cumsum(lengths) - lengths
        entries, right, n_splits = [], [], 0
        for index, (tree, root) in enumerate(zip(trees, roots.tolist(), strict=True)):
            order, children = preorder(tree.left, tree.right)
            # A tree has one leaf more than splits.
            entries.append(np.where(order >= 0, order + n_splits, order - n_splits - index))
            right.append(np.where(children > 0, children + root, 0))
            n_splits += len(tree.left)
        entry = np.concatenate(entries)
        split, leaf = np.where(entry >= 0, entry, -1), np.where(entry < 0, -entry - 1, -1)

        def split_values(column: str, leaf_value: float) -> Any:
            # Index -1 selects the last entry, the value for leaves.
            return np.append(np.concatenate([getattr(tree, column) for tree in trees]), leaf_value)[split]

        values = np.append(np.concatenate([tree.leaf_values for tree in trees]), 0.0)[leaf]
        return cls(
            split_values("features", -1),
            split_values("thresholds", 0.0),
            missing_directions(split_values("decisions", 0)),
            np.concatenate(right),
            values,
            roots,
        )

    @classmethod
    def from_trees(
        cls, roots: Iterable[N], value_or_split: Callable[[N], float | tuple[Split, N, N]]
    ) -> "Nodes":
        """Traverse trees of any representation and return their nodes in preorder.

        Args:
            value_or_split: Function that returns the value of a leaf, or a split with its left and right
                child.
        """
        nodes: list[Split] = []
        right: list[int] = []
        values: list[float] = []
        starts: list[int] = []
        for root in roots:
            starts.append(len(nodes))
            waiting: list[tuple[N, int]] = [(root, -1)]
            while waiting:
                node, parent = waiting.pop()
                if parent >= 0:
                    right[parent] = len(nodes)
                value = value_or_split(node)
                if isinstance(value, tuple):
                    split, below_left, below_right = value
                    waiting += [(below_right, len(nodes)), (below_left, -1)]
                    nodes.append(split)
                    values.append(0.0)
                else:
                    nodes.append(_LEAF)
                    values.append(value)
                right.append(0)
        features, thresholds, missing_side = zip(*nodes, strict=True)
        return cls(
            np.array(features, np.int64),
            np.array(thresholds, np.float64),
            np.array(missing_side, np.int64),
            np.array(right, np.int64),
            np.array(values, np.float64),
            np.array(starts, np.int64),
        )

    @property
    def splits(self) -> Int64Array:
        """Return the positions of the splits."""
        return np.flatnonzero(self.features >= 0)

    def depths(self) -> Int64Array:
        """Return the depth of each node below its root, (n_nodes,)."""
        depths: Int64Array = depths_of(self.features, self.right)
        return depths

    def of_tree(self, tree: int) -> range:
        """Return the range of the nodes of a tree."""
        stops = (*self.roots[1:].tolist(), len(self.features))
        return range(int(self.roots[tree]), stops[tree])

    def with_leaf(self, value: float) -> "Nodes":
        """Return the forest with a tree of a single leaf appended."""
        leaf = Nodes.of(ModelText(("",), (Tree.leaf(value),)))
        joined: list[Any] = [np.concatenate(pair) for pair in zip(self, leaf, strict=True)]
        joined[-1] = np.append(self.roots, len(self.features))
        return Nodes(*joined)


_LEAF = Split(-1, 0.0, MissingDirection.NOWHERE)


def require_same_shape(model: Nodes, written: Nodes) -> None:
    """Require the same features and shapes in the written trees.

    Raises:
        ModelError: The features, shapes or numbers of trees differ.
    """
    if not (np.array_equal(model.features, written.features) and np.array_equal(model.right, written.right)):
        raise ModelError("the trees of the export differ from the trees of the model")
    if not np.array_equal(model.roots, written.roots):
        raise ModelError("the number of trees in the export differs from the model's")


@exact
def preorder(left: Int64Array, right: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the preorder of a tree's nodes, given its children as in `Tree`, where leaf k is -k - 1.

    Returns:
        (n_nodes,) split or leaf at each position, and position of its right child, 0 for a leaf.
    """
    n_nodes = 2 * len(left) + 1
    order, right_children = np.empty(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    waiting, parents = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    waiting[0], parents[0], n_waiting = 0 if len(left) else -1, -1, 1
    for at in range(n_nodes):
        n_waiting -= 1
        node = waiting[n_waiting]
        if parents[n_waiting] >= 0:
            right_children[parents[n_waiting]] = at
        order[at] = node
        if node >= 0:
            waiting[n_waiting], parents[n_waiting] = right[node], at
            waiting[n_waiting + 1], parents[n_waiting + 1] = left[node], -1
            n_waiting += 2
    return order, right_children


@exact
def depths_of(features: Int64Array, right: Int64Array) -> Int64Array:
    """Return the depth of each node below its root."""
    depths = np.zeros(len(features), np.int64)
    for node in range(len(features)):
        if features[node] >= 0:
            depths[node + 1] = depths[right[node]] = depths[node] + 1
    return depths
