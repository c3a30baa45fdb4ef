"""Learning from clicks: logs, click models, propensities, counterfactual estimates and simulation."""

from core.clicks.log import ClickLog

__all__ = ["ClickLog"]
