"""Learning from clicks: logs, click models, propensities, counterfactual estimates and simulation."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.clicks.log import ClickLog

# Lazy imports: code that only checks the options of an upload needs neither Arrow nor kernels.
__getattr__ = lazy_names(__name__)
