"""Compile, or load from numba's disk cache, the kernels that score documents."""

import numpy as np

from core.scoring.forest import LEAST_DOCUMENTS, Forest
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree


def warm_up(*, datasets: bool) -> None:
    """Score some documents.

    Args:
        datasets: Whether whole datasets will be scored, too: mapped files that cannot be written to, and by
            several threads.
    """
    split, no, leaves = np.zeros(1, np.int64), np.zeros(1), (np.array([-1]), np.array([-2]))
    tree = Tree(split, no, split, *leaves, np.array([0.0, 1.0]), no, split, np.zeros(2, np.int64))
    forest = Forest(ModelText(("feature",), (tree,)))
    features = np.zeros((LEAST_DOCUMENTS, 1), np.float32)
    forest.score(features[:1])
    forest.score(np.zeros((1, 1)))
    if datasets:
        forest.score(features, threads=2)
        features.flags.writeable = False
        forest.score(features[:1])
        forest.score(features, threads=2)
