"""Detection of features that are mapped from a file."""

import mmap
from typing import Any

import numpy as np

from core.data.features import Features, SelectedFeatures


def is_mapped(features: Features) -> bool:
    """Return whether features are mapped from a file, and use no memory of the process."""
    owner: Any = features.matrix if isinstance(features, SelectedFeatures) else features
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return isinstance(owner.obj if isinstance(owner, memoryview) else owner, mmap.mmap)
