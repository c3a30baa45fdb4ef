"""Estimators for scikit-learn, which train in the calling process with the algorithms of the service."""

from rankery.errors import PackageMissing

try:
    import sklearn  # noqa: F401
except ImportError as missing:
    raise PackageMissing("RankeryRanker needs scikit-learn: pip install scikit-learn") from missing

from rankery.sklearn.auto_ranker import RankeryAutoRanker
from rankery.sklearn.ranker import RankeryRanker

__all__ = ["RankeryAutoRanker", "RankeryRanker"]
