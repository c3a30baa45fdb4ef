"""Explanations of the scores of any model."""

from typing import Protocol

import numpy as np

from core.errors import ModelError
from core.scorers.gradients import IntegratedGradients, explanation_steps
from core.scorers.model import ScoringModel, TreeModel, rounded
from core.scorers.network import Network
from core.scorers.sum import Sum
from core.scoring import Explainability, TreeExplainer
from core.types import Float64Array, FloatArray


class Explainer(Protocol):
    """An explainer of the scores of a model."""

    @property
    def steps(self) -> int:
        """Return the cost of explaining one score, in steps of about 5 ns."""

    def explain(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents; see `TreeExplainer.explain` and `IntegratedGradients.explain`."""


def explainability_of(model: ScoringModel) -> Explainability:
    """Return whether the scores of a model can be explained, and the cost of one explanation."""
    if isinstance(model, TreeModel):
        return Explainability.of(model.text)
    if isinstance(model, Network):
        return Explainability(None, explanation_steps(model))
    if isinstance(model, Sum):
        return _explainability_of_sum([explainability_of(member.model) for member in model.members])
    return Explainability(f"scores of the kind {model.kind} cannot be explained", 1)


def explainer_of(model: ScoringModel) -> Explainer:
    """Return the explainer of a model: Shapley values for trees, integrated gradients for networks.

    Raises:
        ModelError: The scores cannot be explained; see `explainability_of`.
    """
    if isinstance(model, TreeModel):
        return TreeExplainer(model.text)
    if isinstance(model, Network):
        return IntegratedGradients(model)
    if isinstance(model, Sum):
        return SumExplainer(model)
    raise ModelError(str(explainability_of(model).problem))


class SumExplainer:
    """Explainer of the scores of a sum, by the weighted sum of each feature's contributions to the members.

    Attributes:
        steps: Cost of explaining one score, in steps of about 5 ns.

    Raises:
        ModelError: The scores of a member cannot be explained.
    """

    def __init__(self, model: Sum) -> None:
        self._parts = [(explainer_of(member.model), member, columns) for member, columns in model.parts]
        self.steps = sum(explainer.steps for explainer, _, _ in self._parts)

    def explain(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents; see `TreeExplainer.explain` and `IntegratedGradients.explain`."""
        base, contributions = np.zeros(len(features)), np.zeros(features.shape)
        for explainer, member, columns in self._parts:
            chosen = rounded(np.ascontiguousarray(features[:, columns]), member.precision)
            member_explanation = explainer.explain(chosen)
            base += member.weight * member_explanation[0]
            contributions[:, columns] += member.weight * member_explanation[1]
        return base, contributions


def _explainability_of_sum(members: list[Explainability]) -> Explainability:
    problem = next((each.problem for each in members if each.problem is not None), None)
    return Explainability(problem, sum(each.steps for each in members))
