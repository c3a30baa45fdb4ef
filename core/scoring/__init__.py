"""Scoring of documents by forests, with explanations."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.scoring.contributions import Contributions, Explainability
    from core.scoring.forest import Forest

__all__ = ["Contributions", "Explainability", "Forest"]
# Lazy imports: processes that score nothing import the limits only.
__getattr__ = lazy_names(
    __name__,
    {
        "Contributions": "core.scoring.contributions",
        "Explainability": "core.scoring.contributions",
        "Forest": "core.scoring.forest",
    },
)
