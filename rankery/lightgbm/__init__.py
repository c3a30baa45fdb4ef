"""Rankery's losses and metrics in trainings of LightGBM itself: `lgb.train`, `lgb.cv` and `LGBMRanker`."""

from rankery.lightgbm.metric import RankingMetric, metric
from rankery.lightgbm.objective import RankingObjective, objective
from rankery.lightgbm.parameters import parameters

__all__ = ["RankingMetric", "RankingObjective", "metric", "objective", "parameters"]
