"""Training: a TrainingSpec and datasets in, a TrainedRanker out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.training.hyperparameters import Hyperparameters
from core.training.spec import EarlyStopping, TrainingSpec, training_spec

if TYPE_CHECKING:
    from core.training.binning import CachedBins
    from core.training.boosting import Snapshot, TrainedRanker, train
    from core.training.checkpoint import Checkpoint, CheckpointError
    from core.training.models import IterationReport, TrainedModel, TrainingCheckpoint

__all__ = [
    "CachedBins",
    "Checkpoint",
    "CheckpointError",
    "EarlyStopping",
    "Hyperparameters",
    "IterationReport",
    "Snapshot",
    "TrainedModel",
    "TrainedRanker",
    "TrainingCheckpoint",
    "TrainingSpec",
    "train",
    "training_spec",
]

# Lazy imports: the API only specifies trainings and does not need LightGBM and its dependencies.
_MODULES = {
    "binning": ["CachedBins"],
    "boosting": ["Snapshot", "TrainedRanker", "train"],
    "checkpoint": ["Checkpoint", "CheckpointError"],
    "models": ["IterationReport", "TrainedModel", "TrainingCheckpoint"],
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"core.training.{module}"), name)
    raise AttributeError(name)
