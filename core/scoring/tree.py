"""A tree of a forest, as a model text holds it."""

from dataclasses import dataclass

import numpy as np

from core.types import Float64Array, Int64Array, UInt32Array

CATEGORICAL = 1  # the bit of a split's decision that is set where it asks for a category


@dataclass(frozen=True)
class LinearLeaves:
    """Linear functions of a linear tree's leaves; a document that lacks a value gets the leaf's constant.

    Attributes:
        constants: (n_leaves,)
        counts: (n_leaves,) how many features each leaf looks at.
        features: Those of all leaves, one leaf after the other.
        coefficients: By which the values of these features are multiplied.
    """

    constants: Float64Array
    counts: Int64Array
    features: Int64Array
    coefficients: Float64Array


@dataclass(frozen=True)
class Tree:
    """A tree: splits, leaf values and document counts.

    Attributes:
        features: (n_splits,) feature that each split looks at.
        thresholds: (n_splits,) values up to which it goes left; of a categorical split, its place in
            `categories`.
        decisions: (n_splits,) LightGBM's `decision_type`: bit 0 is set for a categorical split, bit 1 where
            missing values go left, bits 2 and 3 define which are missing: none (0), zeros (1) or NaN (2).
        left: (n_splits,) left children, a later split or leaf k as -k - 1.
        right: (n_splits,) right children.
        leaf_values: (n_splits + 1,).
        gains: (n_splits,) by how much each split reduced the loss; 0 where the text does not tell.
        split_counts: (n_splits,) training documents that came through; 0 where the text does not tell.
        leaf_counts: (n_splits + 1,) training documents that ended there; 0 where the text does not tell.
        categories: The categories that go left, as bits of words of 32.
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

    @classmethod
    def leaf(cls, value: float) -> "Tree":
        """Make a tree that is a single leaf."""
        none, real = np.empty(0, np.int64), np.empty(0)
        return cls(none, real, none, none, none, np.array([value]), real, none, np.zeros(1, np.int64))
