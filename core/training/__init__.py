"""Training: a TrainingSpec and datasets in, a TrainedRanker out."""

from typing import TYPE_CHECKING

from core.training.hyperparameters import Hyperparameters
from core.training.spec import TrainingSpec, training_spec
from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.training.binning import CachedBins
    from core.training.boosting import Snapshot, TrainedRanker, train
    from core.training.checkpoint import Checkpoint, CheckpointError
    from core.training.models import IterationReport, TrainedModel, TrainingCheckpoint

# Lazy imports: the API only specifies trainings and does not need LightGBM and its dependencies.
__getattr__ = lazy_names(__name__)
