"""Scoring of documents by forests, with explanations."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.scoring.contributions import Explainability, TreeExplainer
    from core.scoring.forest import Forest

# Lazy imports: processes that score nothing import the limits only.
__getattr__ = lazy_names(__name__)
