"""Training: a TrainingSpec and datasets in, a TrainedRanker out."""

from core.training.binning import KeptBins
from core.training.boosting import Snapshot, TrainedRanker, train
from core.training.checkpoint import Checkpoint, CheckpointError
from core.training.hyperparameters import Hyperparameters
from core.training.report import IterationReport
from core.training.spec import EarlyStopping, TrainingSpec, training_spec
from core.training.warm_up import warm_up

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "EarlyStopping",
    "Hyperparameters",
    "IterationReport",
    "KeptBins",
    "Snapshot",
    "TrainedRanker",
    "TrainingSpec",
    "train",
    "training_spec",
    "warm_up",
]
