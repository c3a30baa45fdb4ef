"""Explanations of the scores of any model."""

from typing import Protocol

from core.errors import ModelError
from core.scorers.gradients import IntegratedGradients, explanation_steps
from core.scorers.model import ScoringModel, TreeModel
from core.scorers.network import Network
from core.scoring import Contributions, Explainability
from core.types import Float64Array, FloatArray


class Explainer(Protocol):
    """Explains the scores of a model."""

    @property
    def steps(self) -> int:
        """Return what one score takes, in steps of about 5 ns."""

    def of(self, features: FloatArray) -> tuple[Float64Array, Float64Array]:
        """Explain documents; see `Contributions.of` and `IntegratedGradients.of`."""


def explainability_of(model: ScoringModel) -> Explainability:
    """Examine whether scores of a model can be explained, and at what cost."""
    if isinstance(model, TreeModel):
        return Explainability.of(model.text)
    if isinstance(model, Network):
        return Explainability(None, explanation_steps(model))
    return Explainability(f"scores of the kind {model.kind} cannot be explained", 1)


def explainer_of(model: ScoringModel) -> Explainer:
    """Return what explains a model: Shapley values of trees, integrated gradients of networks.

    Raises:
        ModelError: Its scores cannot be explained; see `explainability_of`.
    """
    if isinstance(model, TreeModel):
        return Contributions(model.text)
    if isinstance(model, Network):
        return IntegratedGradients(model)
    raise ModelError(str(explainability_of(model).problem))
