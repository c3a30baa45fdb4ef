"""Automatic training: try a portfolio of candidates, and fit the best model or sum of models."""

from core.autotrain.portfolio import Candidate, portfolio
from core.autotrain.search import AutoTrained, NotTried, auto_train
from core.autotrain.trials import AutoSpec, Trials, Tried

__all__ = ["AutoSpec", "AutoTrained", "Candidate", "NotTried", "Trials", "Tried", "auto_train", "portfolio"]
