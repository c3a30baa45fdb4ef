"""Compile the kernels that score documents, or load them from numba's disk cache."""

import numpy as np

from core.ranges import read_only
from core.scoring.arrivals import count_arrivals
from core.scoring.forest import Forest, flatten
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree


def requests() -> None:
    """Score documents of requests and of datasets, in float32 and float64."""
    forest = Forest(ModelText(("feature",), (_tree(),)))
    forest.score(np.zeros((1, 1), np.float32))
    forest.score(np.zeros((1, 1)))


def leaves() -> None:
    """Count the documents at the leaves of a forest."""
    flat = flatten((_tree(),))
    if flat is None:
        raise TypeError("a tree of one split must not be left to LightGBM")
    count_arrivals(read_only(np.zeros((1, 1), np.float32)), flat, np.zeros((1, len(flat.nodes)), np.int64))


def _tree() -> Tree:
    split, zero, leaves = np.zeros(1, np.int64), np.zeros(1), (np.array([-1]), np.array([-2]))
    return Tree(split, zero, split, *leaves, np.array([0.0, 1.0]), zero, split, np.zeros(2, np.int64))
