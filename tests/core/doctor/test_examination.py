"""Examination of a dataset without features."""

import numpy as np

from core.data import RankingDataset
from core.doctor import examine


def test_bare_judgments_are_examined_without_features() -> None:
    """There are no feature profiles, and no finding about documents."""
    dataset = RankingDataset.from_arrays(np.empty((40, 0)), np.arange(40) % 3, np.arange(0, 41, 10))
    report = examine(dataset)
    assert report.features == ()
    assert not [finding for finding in report.findings if "document" in finding.title.lower()]
