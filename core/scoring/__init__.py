"""Scoring: documents' features in, scores out, and why."""

from core.scoring.contributions import Contributions, Explainability
from core.scoring.forest import Forest

__all__ = ["Contributions", "Explainability", "Forest"]
