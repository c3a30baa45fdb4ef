"""The client, the command line, the embedded service and the library of Rankery."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AsyncClient", "Client", "RankeryRanker", "__version__", "compare", "lightgbm", "metrics"]

if TYPE_CHECKING:
    from rankery import lightgbm, metrics
    from rankery.client import AsyncClient, Client
    from rankery.comparison import compare
    from rankery.sklearn import RankeryRanker

# Imported on first use: the command line starts before it needs a client, and most clients need no library.
_MODULES = {
    "AsyncClient": "rankery.client",
    "Client": "rankery.client",
    "RankeryRanker": "rankery.sklearn",
    "compare": "rankery.comparison",
}
_SUBMODULES = ("lightgbm", "metrics")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"rankery.{name}")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
