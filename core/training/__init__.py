"""Training: a TrainingSpec and datasets in, a TrainedRanker out."""

from core.training.binning import KeptBins
from core.training.boosting import IterationReport, TrainedRanker, train
from core.training.hyperparameters import Hyperparameters
from core.training.spec import EarlyStopping, TrainingSpec, training_spec
from core.training.warm_up import warm_up

__all__ = [
    "EarlyStopping",
    "Hyperparameters",
    "IterationReport",
    "KeptBins",
    "TrainedRanker",
    "TrainingSpec",
    "train",
    "training_spec",
    "warm_up",
]
