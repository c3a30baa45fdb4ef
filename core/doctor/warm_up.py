"""Compile, or load from the disk cache, every kernel of the doctor."""

import numpy as np

from core.data import RankingDataset
from core.doctor.agreement import compare
from core.doctor.examination import examine


def examination() -> None:
    """Examine a tiny dataset."""
    examine(_dataset())


def comparison() -> None:
    """Compare a tiny dataset with itself."""
    compare(_dataset(), _dataset(), "test")


def _dataset() -> RankingDataset:
    return RankingDataset.from_arrays(np.eye(3), [0, 1, 2], [0, 3])
