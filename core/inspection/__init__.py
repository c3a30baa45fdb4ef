"""Model inspection: feature importance, partial dependence and trees."""

from core.inspection.partial_dependence import Grid, PartialDependence, partial_dependence
from core.inspection.permutation import (
    PermutationImportance,
    Permutations,
    SplitImportance,
    permutation_importance,
    split_importance,
)
from core.inspection.tree_nodes import MAX_DEPTH, Leaf, Split, tree_nodes

__all__ = [
    "MAX_DEPTH",
    "Grid",
    "Leaf",
    "PartialDependence",
    "PermutationImportance",
    "Permutations",
    "Split",
    "SplitImportance",
    "partial_dependence",
    "permutation_importance",
    "split_importance",
    "tree_nodes",
]
