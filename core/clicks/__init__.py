"""Learning from clicks: logs, click models, propensities, counterfactual estimates and simulation."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.clicks.log import ClickLog

__all__ = ["ClickLog"]
# Who only asks what an upload may be needs neither Arrow nor the kernels that read one.
__getattr__ = lazy_names(__name__, {"ClickLog": "core.clicks.log"})
