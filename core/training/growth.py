"""The reason of an early end of a training."""

import re
from typing import Protocol

from core.training.findings import MIN_IMPROVEMENTS, Growth
from core.training.spec import TrainingSpec


class FinishedTraining(Protocol):
    """A finished training.

    Attributes:
        is_exhausted: Whether the last update found no split with a gain.
    """

    is_exhausted: bool

    def first_hessian_sum(self) -> float:
        """Return the sum of the hessians before the first tree."""
        ...

    def has_gradient(self) -> bool:
        """Return whether the loss would still change the score of a document."""
        ...

    def decisive_bound(self) -> str | None:
        """Return the hyperparameter whose bound alone prevents another tree; do not train afterwards."""
        ...


def growth_of(
    spec: TrainingSpec,
    model_text: str,
    trees: int,
    n_queries: int,
    training: FinishedTraining,
    *,
    base_trees: int = 0,
) -> Growth | None:
    """Return the growth of a training that ended suspiciously early or has trees of one leaf, else None.

    Args:
        base_trees: Trees of the initial model, which come first in the model.
    """
    total = spec.hyperparameters.num_iterations
    leaves = re.findall(r"^num_leaves=(\d+)$", model_text, re.MULTILINE)
    single_leaf_trees = leaves[base_trees:].count("1")
    is_short = trees < min(MIN_IMPROVEMENTS, total) and (
        training.is_exhausted or total >= 2 * MIN_IMPROVEMENTS
    )
    if not single_leaf_trees and not is_short:
        return None
    mean_hessian_sum = training.first_hessian_sum() / n_queries
    reason = _end_reason(spec, trees, single_leaf_trees, training)
    return Growth(trees, single_leaf_trees, total, reason, mean_hessian_sum, n_queries, training.is_exhausted)


def _end_reason(spec: TrainingSpec, trees: int, single_leaf_trees: int, training: FinishedTraining) -> str:
    """Return the reason why no more trees were kept, or why the first one has a single leaf."""
    if not training.is_exhausted:
        if single_leaf_trees:  # later trees have splits
            return "random choices, such as sampled features, allowed no split"
        return f"{spec.selection_metric} on the validation data was best after {trees:,}"
    if not training.has_gradient():
        return "the loss is at its minimum: the gradient is 0 for every document"
    if bound := training.decisive_bound():
        return f"{bound} = {getattr(spec.hyperparameters, bound):g} allows no split"
    return "no split has a positive gain"
