"""Model inspection: feature importance, partial dependence and trees."""

from core.inspection.partial_dependence import Grid, partial_dependence
from core.inspection.permutation import (
    PermutationImportance,
    Permutations,
    permutation_importance,
    split_importance,
)
from core.inspection.tree_nodes import MAX_DEPTH, Leaf, Split, tree_nodes
