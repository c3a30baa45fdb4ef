"""Automatic training: try a portfolio of candidates, and fit the best model or sum of models."""

from core.autotrain.portfolio import Candidate, portfolio
from core.autotrain.search import AutoSpec, AutoTrained, NotTried, Tried, auto_train

__all__ = ["AutoSpec", "AutoTrained", "Candidate", "NotTried", "Tried", "auto_train", "portfolio"]
