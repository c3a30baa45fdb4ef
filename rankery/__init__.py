"""The client, the command line, the embedded service and the library of Rankery."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

__version__ = "0.1.0"
__all__ = [
    "AsyncClient",
    "Client",
    "RankeryAutoRanker",
    "RankeryRanker",
    "__version__",
    "compare",
    "lightgbm",
    "metrics",
    "verify_webhook",
]

if TYPE_CHECKING:
    from rankery import lightgbm, metrics
    from rankery.client import AsyncClient, Client
    from rankery.comparison import compare
    from rankery.sklearn import RankeryAutoRanker, RankeryRanker
    from rankery.webhooks import verify_webhook

# Lazy imports: the command line starts without a client, and most clients use no library.
__getattr__ = lazy_names(__name__)
