"""Split importance: gains and numbers of splits by feature."""

from dataclasses import dataclass

import numpy as np

from core.scoring.model_text import ModelText
from core.types import Float64Array, Int64Array


@dataclass(frozen=True, eq=False)
class SplitImportance:
    """Split importance as in LightGBM's `feature_importance`, in the model's feature order.

    Attributes:
        gain: (n_features,) sums of the gains of the splits by each feature, in units of the training loss.
        split: (n_features,) number of splits by each feature.
    """

    gain: Float64Array
    split: Int64Array


def split_importance(text: ModelText) -> SplitImportance:
    """Sum the splits of all trees; splits without a gain are ignored, as in LightGBM."""
    features = np.concatenate([np.empty(0, np.int64), *(tree.features for tree in text.trees)])
    gains = np.concatenate([np.empty(0), *(tree.gains for tree in text.trees)])
    counted = gains > 0.0
    n_features = len(text.feature_names)
    # LightGBM reads its gains as float32 and sums them in float64, tree by tree.
    weights = np.minimum(gains[counted], np.finfo(np.float32).max).astype(np.float32)
    return SplitImportance(
        gain=np.bincount(features[counted], weights, minlength=n_features).astype(np.float64),
        split=np.bincount(features[counted], minlength=n_features).astype(np.int64),
    )
