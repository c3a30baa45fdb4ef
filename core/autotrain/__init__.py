"""Automatic training: evaluate a portfolio of candidates, and fit the best model or sum of models."""

from typing import TYPE_CHECKING

from core.autotrain.portfolio import Candidate, portfolio
from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.autotrain.search import AutoTrained, auto_train
    from core.autotrain.trials import AutoSpec, Trials, Tried

# Lazy imports: the API only specifies trainings and does not need LightGBM and its dependencies.
__getattr__ = lazy_names(__name__)
