"""Scoring of documents by forests, with explanations."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.scoring.contributions import Contributions, Explainability
    from core.scoring.forest import Forest

__all__ = ["Contributions", "Explainability", "Forest"]
# Limits are read by processes that score nothing.
__getattr__ = lazy_names(
    __name__,
    {
        "Contributions": "core.scoring.contributions",
        "Explainability": "core.scoring.contributions",
        "Forest": "core.scoring.forest",
    },
)
