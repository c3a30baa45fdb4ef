"""Whether the scores of a model can be explained."""

from core.scorers.model import ScoringModel, TreeModel
from core.scoring import Explainability


def explainability_of(model: ScoringModel) -> Explainability:
    """Examine a model, and what explaining one score costs."""
    if isinstance(model, TreeModel):
        return Explainability.of(model.text)
    return Explainability("the scores of a network are not explained yet", 0)
