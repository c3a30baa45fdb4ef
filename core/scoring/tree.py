"""A tree of a forest, with the fields of LightGBM's model text."""

from dataclasses import dataclass

import numpy as np

from core.types import Float64Array, Int64Array, UInt32Array

CATEGORICAL = 1  # bit of a split's decision, set for categorical splits


@dataclass(frozen=True)
class LinearLeaves:
    """Linear functions of a linear tree's leaves; documents with missing values get the leaf's value.

    Attributes:
        constants: (n_leaves,)
        counts: (n_leaves,) number of features of each leaf.
        features: Features of all leaves, one leaf after the other.
    """

    constants: Float64Array
    counts: Int64Array
    features: Int64Array
    coefficients: Float64Array


@dataclass(frozen=True)
class Tree:
    """A tree: splits, leaf values and document counts.

    Attributes:
        features: (n_splits,) feature of each split.
        thresholds: (n_splits,) largest value that goes left; for a categorical split, its index in
            `categories`.
        decisions: (n_splits,) LightGBM's `decision_type`: bit 0 is set for a categorical split, bit 1 where
            missing values go left, bits 2 and 3 define which are missing: none (0), zeros (1) or NaN (2).
        left: (n_splits,) left children: the index of a later split, or -k - 1 for leaf k.
        right: (n_splits,) right children.
        leaf_values: (n_splits + 1,).
        gains: (n_splits,) reduction of the loss by each split; 0 where the text has none.
        split_counts: (n_splits,) training documents that passed each split; 0 where the text has none.
        leaf_counts: (n_splits + 1,) training documents in each leaf; 0 where the text has none.
        categories: For each categorical split, the categories that go left, as bits of 32-bit words.
        linear: Linear models of the leaves, None where they are constant.
    """

    features: Int64Array
    thresholds: Float64Array
    decisions: Int64Array
    left: Int64Array
    right: Int64Array
    leaf_values: Float64Array
    gains: Float64Array
    split_counts: Int64Array
    leaf_counts: Int64Array
    categories: tuple[UInt32Array, ...] = ()
    linear: LinearLeaves | None = None

    @property
    def used_features(self) -> frozenset[int]:
        """Return the features that the tree splits by or a linear leaf reads."""
        read = [] if self.linear is None else self.linear.features.tolist()
        return frozenset([*self.features.tolist(), *read])

    @classmethod
    def leaf(cls, value: float) -> "Tree":
        """Make a tree that is a single leaf."""
        none, real = np.empty(0, np.int64), np.empty(0)
        return cls(none, real, none, none, none, np.array([value]), real, none, np.zeros(1, np.int64))
