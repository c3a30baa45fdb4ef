"""The reason of an early end of a training."""

import re
from typing import Protocol

from core.training.findings import MIN_IMPROVEMENTS, Growth
from core.training.spec import TrainingSpec


class Ended(Protocol):
    """A finished training.

    Attributes:
        is_exhausted: Whether no split had a gain at the end.
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


def growth_of(spec: TrainingSpec, model_text: str, trees: int, n_queries: int, ended: Ended) -> Growth | None:
    """Return the growth of a training if it ended suspiciously early, else None.

    Args:
        spec: The specification.
        model_text: The model.
        trees: Kept trees of this training.
        n_queries: Number of training queries.
        ended: The training.
    """
    total = spec.hyperparameters.num_iterations
    single_leaf_trees = len(re.findall(r"^num_leaves=1$", model_text, re.MULTILINE))
    is_short = trees < min(MIN_IMPROVEMENTS, total) and (ended.is_exhausted or total >= 2 * MIN_IMPROVEMENTS)
    if not single_leaf_trees and not is_short:
        return None
    mean_hessian_sum = ended.first_hessian_sum() / n_queries
    why = _ending(spec, trees, ended)
    return Growth(trees, single_leaf_trees, total, why, mean_hessian_sum, n_queries)


def _ending(spec: TrainingSpec, trees: int, ended: Ended) -> str:
    """Return the reason why no more trees were kept."""
    if not ended.is_exhausted:
        return f"{spec.selection_metric} on the validation data was best after {trees:,}"
    if not ended.has_gradient():
        return "the loss is at its minimum: the gradient is 0 for every document"
    if bound := ended.decisive_bound():
        return f"{bound} = {getattr(spec.hyperparameters, bound):g} allows no split"
    return "no split has a positive gain"
